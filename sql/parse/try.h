// Returning early from functions that give Result<T, SqlError>.
#pragma once

#include "base/result.h"
#include "sql/types/fault.h"

#define TM_SQL_CONCAT_INNER(a, b) a##b
#define TM_SQL_CONCAT(a, b) TM_SQL_CONCAT_INNER(a, b)

// TM_SQL_ASSIGN(target, expression): the value of `expression` into `target`, or its error out of the
// function.
#define TM_SQL_ASSIGN(target, expression) \
  TM_SQL_ASSIGN_INNER(TM_SQL_CONCAT(tm_result_, __LINE__), target, expression)
#define TM_SQL_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                           \
  if (!result.ok()) return result.error();              \
  target = std::move(*result)

namespace tidemark::sql {

// Success or what a client is told.
using SqlStatus = Result<void, SqlError>;

}  // namespace tidemark::sql
