// What the evaluation of expressions needs besides the row: memory for results, parameters, and what is not a
// function of the row (time, chance), given from outside so that cores stay deterministic.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sql/types/arena.h"
#include "sql/types/fault.h"
#include "sql/types/value.h"

namespace tidemark::sql {

// Not thread-safe; one per worker, reused for every row. Results live until arena.reset().
struct Evaluation {
  Arena arena;
  std::span<const Value> params;
  std::span<const Value> outer;  // Of the rows that enclosing queries are at.
  // Of the statement: now() is the same throughout it.
  int64_t now_micros = 0;
  Random random{0};
  std::string user, database;

  // Registers of the running program, and memory that functions build text in.
  std::vector<Value> registers;
  std::string scratch;

  // Says more than the fault that is returned with it; the caller takes it.
  std::optional<SqlError> error;

  // Fails with a message made for the occasion.
  Fault fail(const char* state, std::string message) {
    error = SqlError{state, std::move(message), 0, {}, {}};
    return {state, nullptr};
  }
  // The error of `fault`, which this evaluation returned.
  SqlError take_error(Fault fault) {
    SqlError out = error ? *std::exchange(error, std::nullopt) : to_error(fault);
    return out;
  }
};

}  // namespace tidemark::sql
