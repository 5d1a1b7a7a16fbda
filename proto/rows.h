// Rows as replies and checkpoints carry them: (hash, key, row), in store order.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tidemark {

struct StoredRow {
  uint64_t hash = 0;
  std::string_view key;
  std::string_view row;
};

void append_row(std::string& out, const StoredRow& row);

class RowReader {
 public:
  explicit RowReader(std::string_view rows) : reader_(rows) {}
  bool next(StoredRow& out);
  bool ok() const { return reader_.ok(); }

 private:
  ByteReader reader_;
};

}  // namespace tidemark
