// A prepared statement with parameters, on its way to being executed, perhaps in pieces.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/gateway/session.h"
#include "sql/gateway/wire.h"

namespace tidemark::sql {

struct Portal {
  std::shared_ptr<const PreparedStatement> statement;
  std::string text;  // Of the statement, for positions in errors.
  std::vector<OwnedValue> parameters;
  std::vector<ValueFormat> formats;

  bool executed = false;
  bool in_pieces = false;
  std::optional<Result<std::string, SqlError>> outcome;  // Once the statement has ended.
  // Rows that the client has not asked for yet, as finished messages: of a statement that can not wait, or
  // that had to make way for another one.
  std::deque<std::string> rows;
  size_t row_bytes = 0;

  bool has_columns() const { return !statement->columns().empty(); }
};
using PortalPtr = std::shared_ptr<Portal>;

// How many rows one Execute asked for, and how many it got.
struct Piece {
  size_t rows_max = 0;  // 0: all.
  size_t rows = 0;

  bool is_full() const { return rows_max > 0 && rows >= rows_max; }
};

}  // namespace tidemark::sql
