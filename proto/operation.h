// Operations: what a client asks a region to do to rows. All of a request's are applied, or none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/types.h"

namespace tidemark {

enum class OperationKind : uint8_t {
  Put = 1,             // Whatever was there.
  Insert = 2,          // Fails (23505) if there is a row.
  InsertIfAbsent = 3,  // Does nothing if there is a row.
  Delete = 4,          // Does nothing if there is none.
  // Fails (40001) unless the row is exactly `expected` (none: no row). Read-modify-write is built on it: the
  // gateway reads, computes and retries, so that a region needs no SQL.
  CompareAndPut = 5,
  CompareAndDelete = 6,
};

struct Operation {
  OperationKind kind = OperationKind::Put;
  TableId table;
  uint64_t hash = 0;
  std::string_view key;
  std::string_view row;
  std::optional<std::string_view> expected;
};

void append_operation(std::string& out, const Operation& operation);

class OperationReader {
 public:
  explicit OperationReader(std::string_view operations) : reader_(operations) {}
  bool next(Operation& out);
  bool ok() const { return reader_.ok(); }

 private:
  ByteReader reader_;
};

}  // namespace tidemark
