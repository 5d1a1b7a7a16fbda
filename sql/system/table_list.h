// Internal to the system tables: what there is, and how rows are made.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sql/system/relations.h"
#include "sql/system/system_tables.h"

namespace tidemark::sql::system_detail {

inline constexpr int64_t kDefaultCollation = 100;

// Collects the rows of one table. A column that is not named gets what says nothing: false, 0, an empty name,
// or NULL.
class Rows {
 public:
  using Cell = std::variant<std::monostate, bool, int64_t, double, std::string>;
  struct Named {
    template <typename T>
    Named(std::string_view column, T&& given) : name(column), cell(cell_of(std::forward<T>(given))) {}

    std::string_view name;
    Cell cell;

   private:
    static Cell cell_of(std::nullopt_t) { return {}; }
    static Cell cell_of(bool value) { return value; }
    static Cell cell_of(double value) { return value; }
    static Cell cell_of(const char* value) { return std::string(value); }
    static Cell cell_of(std::string_view value) { return std::string(value); }
    static Cell cell_of(const std::string& value) { return value; }
    template <typename T>
    static Cell cell_of(const std::optional<T>& value) {
      return value ? cell_of(*value) : Cell();
    }
    template <typename T>
    requires std::is_integral_v<T> &&(!std::is_same_v<T, bool>)static Cell cell_of(T value) {
      return static_cast<int64_t>(value);
    }
  };

  explicit Rows(const TableSchema& table, const std::vector<OwnedValue>& defaults)
      : table_(table), defaults_(defaults) {}

  // REQUIRES: the table has the columns, of fitting types.
  void add(std::initializer_list<Named> cells);

  std::vector<std::vector<OwnedValue>> take() { return std::move(rows_); }

 private:
  const TableSchema& table_;
  const std::vector<OwnedValue>& defaults_;
  std::vector<std::vector<OwnedValue>> rows_;
};

struct SystemTable {
  std::string_view schema, name;
  int64_t oid;
  char kind;                          // As pg_class.relkind.
  void (*rows)(const Known&, Rows&);  // Null: it has none.
  std::string_view columns;           // "name type, ...".
};

std::span<const SystemTable> table_list();

void rows_of_schema_columns(const Known& known, Rows& rows);
void rows_of_schema_key_column_usage(const Known& known, Rows& rows);
void rows_of_schema_schemata(const Known& known, Rows& rows);
void rows_of_schema_table_constraints(const Known& known, Rows& rows);
void rows_of_schema_tables(const Known& known, Rows& rows);
void rows_of_schema_views(const Known& known, Rows& rows);
void rows_of_pg_am(const Known& known, Rows& rows);
void rows_of_pg_attrdef(const Known& known, Rows& rows);
void rows_of_pg_attribute(const Known& known, Rows& rows);
void rows_of_pg_authid(const Known& known, Rows& rows);
void rows_of_pg_class(const Known& known, Rows& rows);
void rows_of_pg_collation(const Known& known, Rows& rows);
void rows_of_pg_constraint(const Known& known, Rows& rows);
void rows_of_pg_database(const Known& known, Rows& rows);
void rows_of_pg_index(const Known& known, Rows& rows);
void rows_of_pg_indexes(const Known& known, Rows& rows);
void rows_of_pg_language(const Known& known, Rows& rows);
void rows_of_pg_matviews(const Known& known, Rows& rows);
void rows_of_pg_namespace(const Known& known, Rows& rows);
void rows_of_pg_proc(const Known& known, Rows& rows);
void rows_of_pg_roles(const Known& known, Rows& rows);
void rows_of_pg_settings(const Known& known, Rows& rows);
void rows_of_pg_tables(const Known& known, Rows& rows);
void rows_of_pg_tablespace(const Known& known, Rows& rows);
void rows_of_pg_type(const Known& known, Rows& rows);
void rows_of_pg_user(const Known& known, Rows& rows);
void rows_of_pg_views(const Known& known, Rows& rows);
void rows_of_pg_get_keywords(const Known& known, Rows& rows);
void rows_of_tidemark_tables(const Known& known, Rows& rows);
void rows_of_tidemark_views(const Known& known, Rows& rows);
void rows_of_tidemark_regions(const Known& known, Rows& rows);
void rows_of_tidemark_ring(const Known& known, Rows& rows);
void rows_of_tidemark_nodes(const Known& known, Rows& rows);
void rows_of_tidemark_view_managers(const Known& known, Rows& rows);

}  // namespace tidemark::sql::system_detail
