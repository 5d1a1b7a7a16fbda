// Internal to the system tables: what there is to tell of, in one form: tables, views and system tables.
#pragma once

#include <string>
#include <vector>

#include "sql/catalog.h"
#include "sql/system/system_state.h"

namespace tidemark::sql::system_detail {

inline constexpr int64_t kOwnerOid = 10;
inline constexpr int64_t kDatabaseOid = 5;
inline constexpr int64_t kHeapOid = 2;
inline constexpr int64_t kBtreeOid = 403;

struct Namespace {
  std::string_view name;
  int64_t oid;
};
inline constexpr Namespace kNamespaces[] = {
    {"pg_catalog", 11}, {"public", 2200}, {"information_schema", 13000}, {"tidemark", 13001}};
int64_t namespace_oid(std::string_view name);

struct KnownRelation {
  int64_t oid = 0;
  char kind = 'r';  // As pg_class.relkind; an external table is a table.
  TableSchemaPtr schema;
  std::vector<bool> not_null;                       // Per column.
  std::vector<std::string> defaults;                // Per column, as SQL; empty for none.
  std::vector<int> key;                             // Columns of the primary key; empty where there is none.
  const pb::TableDefinition* definition = nullptr;  // Null for system tables.

  bool is_system() const { return definition == nullptr; }
  bool has_key() const { return !key.empty(); }
  std::string key_name() const { return schema->name + "_pkey"; }
  int64_t key_oid() const { return oid + 1; }         // Of the index.
  int64_t constraint_oid() const { return oid + 2; }  // Of the primary key.
};

// The state, with all relations.
struct Known {
  const SystemState& state;
  std::vector<KnownRelation> relations;
};
Known known_of(const SystemState& state);

// The SELECT of a view's definition; empty if its statement can not be read.
std::string query_of(const pb::TableDefinition& view);

// As PostgreSQL numbers types and their modifiers: varchar(n) is a type of its own.
int64_t pg_type_oid(const SqlType& type);
int64_t pg_type_modifier(const SqlType& type);

std::string quoted_identifier(std::string_view name);
// "a, b": the columns of the relation's key.
std::string key_list(const KnownRelation& relation);

}  // namespace tidemark::sql::system_detail
