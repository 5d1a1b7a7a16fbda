#include "proto/operation.h"

namespace tidemark {

namespace {

bool has_row(OperationKind kind) {
  return kind != OperationKind::Delete && kind != OperationKind::CompareAndDelete;
}
bool compares(OperationKind kind) {
  return kind == OperationKind::CompareAndPut || kind == OperationKind::CompareAndDelete;
}

}  // namespace

void append_operation(std::string& out, const Operation& operation) {
  put_u8(out, static_cast<uint8_t>(operation.kind));
  put_varint(out, operation.table.value);
  put_fixed64(out, operation.hash);
  put_bytes(out, operation.key);
  if (has_row(operation.kind)) put_bytes(out, operation.row);
  if (compares(operation.kind)) {
    put_u8(out, operation.expected.has_value());
    if (operation.expected) put_bytes(out, *operation.expected);
  }
}

bool OperationReader::next(Operation& out) {
  if (reader_.done()) return false;
  out = Operation{};
  uint8_t kind = reader_.u8();
  if (kind < 1 || kind > 6) reader_.fail();
  out.kind = static_cast<OperationKind>(kind);
  out.table = TableId{reader_.varint32()};
  out.hash = reader_.fixed64();
  out.key = reader_.bytes();
  if (has_row(out.kind)) out.row = reader_.bytes();
  if (compares(out.kind) && reader_.u8()) out.expected = reader_.bytes();
  return reader_.ok();
}

}  // namespace tidemark
