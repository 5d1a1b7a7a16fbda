#include "sql/bind/scope.h"

#include <algorithm>

namespace tidemark::sql {

bool Scope::has_table(std::string_view table) const {
  return std::any_of(columns.begin(), columns.end(),
                     [table](const ScopeColumn& c) { return c.table == table; });
}

Result<const ScopeColumn*, SqlError> Scope::find(const std::vector<std::string>& names, int location) const {
  const int position = location + 1;
  if (names.empty() || names.size() > 3) {
    return SqlError{sqlstate::kSyntaxError, "improper qualified name", position, {}, {}};
  }
  const std::string& name = names.back();
  const bool qualified = names.size() > 1;
  const std::string table = qualified ? names[names.size() - 2] : "";
  const ScopeColumn* found = nullptr;
  for (const ScopeColumn& column : columns) {
    if (column.hidden || column.name != name) continue;
    if (qualified ? column.table != table : column.merged) continue;
    if (found != nullptr) {
      return SqlError{
          sqlstate::kAmbiguousColumn, "column reference \"" + name + "\" is ambiguous", position, {}, {}};
    }
    found = &column;
  }
  if (found != nullptr) return found;
  if (qualified && !has_table(table)) {
    return SqlError{
        sqlstate::kUndefinedTable, "missing FROM-clause entry for table \"" + table + "\"", position, {}, {}};
  }
  const std::string shown = qualified ? table + "." + name : "\"" + name + "\"";
  return SqlError{sqlstate::kUndefinedColumn, "column " + shown + " does not exist", position, {}, {}};
}

}  // namespace tidemark::sql
