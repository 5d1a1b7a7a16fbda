// Errors as values, with less to write.
#pragma once

#include "base/result.h"

// Declares a variable of the value of `expression`, or returns its error.
#define TM_VERIFY_CONCAT_INNER(a, b) a##b
#define TM_VERIFY_CONCAT(a, b) TM_VERIFY_CONCAT_INNER(a, b)
#define TM_ASSIGN_NAMED(declaration, expression, name) \
  auto name = (expression);                            \
  if (!name.ok()) return name.error();                 \
  declaration = *std::move(name)
#define TM_ASSIGN(declaration, expression) \
  TM_ASSIGN_NAMED(declaration, expression, TM_VERIFY_CONCAT(tm_assign_, __LINE__))
