// Names in reach of an expression, and where they are in the input row.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/parse/try.h"
#include "sql/types/sql_type.h"

namespace tidemark::sql {

struct ScopeColumn {
  std::string table;  // Alias of the table.
  std::string name;
  SqlType type;
  int index = 0;        // In the input row.
  bool merged = false;  // The other side of a USING: found by its table's name only.
  bool hidden = false;  // Found by nothing.
};

struct Scope {
  std::vector<ScopeColumn> columns;  // In the order of *.

  // `names` is [table,] column. 42703, 42P01 or 42702 otherwise.
  Result<const ScopeColumn*, SqlError> find(const std::vector<std::string>& names, int location) const;
  bool has_table(std::string_view table) const;
};

}  // namespace tidemark::sql
