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

// What a portal takes of the memory that all portals of its connection share.
class HeldBytes {
 public:
  explicit HeldBytes(size_t& of_all) : of_all_(of_all) {}
  ~HeldBytes() { of_all_ -= own_; }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  void add(size_t bytes) {
    own_ += bytes;
    of_all_ += bytes;
  }
  void remove(size_t bytes) {
    own_ -= bytes;
    of_all_ -= bytes;
  }

 private:
  size_t& of_all_;
  size_t own_ = 0;
};

struct Portal {
  explicit Portal(size_t& held_by_all) : held(held_by_all) {}

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
  HeldBytes held;  // Parameters and rows.

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
