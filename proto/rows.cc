#include "proto/rows.h"

namespace tidemark {

void append_row(std::string& out, const StoredRow& row) {
  put_fixed64(out, row.hash);
  put_bytes(out, row.key);
  put_bytes(out, row.row);
}

bool RowReader::next(StoredRow& out) {
  if (reader_.done()) return false;
  out.hash = reader_.fixed64();
  out.key = reader_.bytes();
  out.row = reader_.bytes();
  return reader_.ok();
}

}  // namespace tidemark
