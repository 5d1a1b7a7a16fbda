// pg_catalog: relations, their columns, keys and definitions.
#include "sql/system/table_list.h"

namespace tidemark::sql::system_detail {
namespace {

constexpr std::string_view kReplicaIdentity = "d";
constexpr std::string_view kPermanent = "p";

std::string text_of(char c) {
  return std::string(1, c);
}

// How PostgreSQL would store values of the type.
char storage_of(const SqlType& type) {
  if (type.kind == TypeKind::Numeric) return 'm';
  return type_length(type.kind) < 0 ? 'x' : 'p';
}
char alignment_of(const SqlType& type) {
  switch (type_length(type.kind)) {
    case 1: return 'c';
    case 2: return 's';
    case 8:
    case 16: return type.kind == TypeKind::Uuid ? 'c' : 'd';
    default: return 'i';
  }
}

void add_attribute(int64_t relation, int number, const SchemaColumn& column, bool not_null, bool has_default,
                   Rows& rows) {
  rows.add({{"attrelid", relation},
            {"attname", column.name},
            {"atttypid", pg_type_oid(column.type)},
            {"attlen", type_length(column.type.kind)},
            {"attnum", number},
            {"attcacheoff", -1},
            {"atttypmod", pg_type_modifier(column.type)},
            {"attbyval", type_length(column.type.kind) > 0 && type_length(column.type.kind) <= 8},
            {"attalign", text_of(alignment_of(column.type))},
            {"attstorage", text_of(storage_of(column.type))},
            {"attnotnull", not_null},
            {"atthasdef", has_default},
            {"attislocal", true},
            {"attstattarget", -1},
            {"attcollation", column.type.kind == TypeKind::Text ? kDefaultCollation : 0}});
}

std::string vector_of(const std::vector<int>& columns) {
  std::string out;
  for (int column : columns) out += (out.empty() ? "" : " ") + std::to_string(column + 1);
  return out;
}
std::string array_of(const std::vector<int>& columns) {
  std::string out;
  for (int column : columns) out += (out.empty() ? "" : ",") + std::to_string(column + 1);
  return "{" + out + "}";
}
std::string zeros(size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += out.empty() ? "0" : " 0";
  return out;
}

std::string index_definition(const KnownRelation& relation) {
  return "CREATE UNIQUE INDEX " + quoted_identifier(relation.key_name()) + " ON " + relation.schema->schema +
         "." + quoted_identifier(relation.schema->name) + " USING btree (" + key_list(relation) + ")";
}

}  // namespace

void rows_of_pg_namespace(const Known&, Rows& rows) {
  for (const Namespace& known : kNamespaces) {
    rows.add({{"oid", known.oid}, {"nspname", known.name}, {"nspowner", kOwnerOid}});
  }
}

void rows_of_pg_class(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    const bool is_view = relation.kind == 'v';
    rows.add({{"oid", relation.oid},
              {"relname", relation.schema->name},
              {"relnamespace", namespace_oid(relation.schema->schema)},
              {"relowner", kOwnerOid},
              {"relam", is_view ? 0 : kHeapOid},
              {"relfilenode", is_view ? 0 : relation.oid},
              {"reltuples", -1},
              {"relhasindex", relation.has_key()},
              {"relpersistence", kPermanent},
              {"relkind", text_of(relation.kind)},
              {"relnatts", relation.schema->columns.size()},
              {"relhasrules", relation.kind == 'm' || is_view},
              {"relispopulated", true},
              {"relreplident", is_view ? "n" : kReplicaIdentity}});
    if (!relation.has_key()) continue;
    rows.add({{"oid", relation.key_oid()},
              {"relname", relation.key_name()},
              {"relnamespace", namespace_oid(relation.schema->schema)},
              {"relowner", kOwnerOid},
              {"relam", kBtreeOid},
              {"relfilenode", relation.key_oid()},
              {"reltuples", 0},
              {"relpersistence", kPermanent},
              {"relkind", "i"},
              {"relnatts", relation.key.size()},
              {"relispopulated", true},
              {"relreplident", "n"}});
  }
}

void rows_of_pg_attribute(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    const std::vector<SchemaColumn>& columns = relation.schema->columns;
    for (size_t i = 0; i < columns.size(); ++i) {
      add_attribute(relation.oid, static_cast<int>(i) + 1, columns[i], relation.not_null[i],
                    !relation.defaults[i].empty(), rows);
    }
    for (size_t i = 0; i < relation.key.size(); ++i) {
      add_attribute(relation.key_oid(), static_cast<int>(i) + 1, columns[relation.key[i]], false, false,
                    rows);
    }
  }
}

void rows_of_pg_attrdef(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    for (size_t i = 0; i < relation.defaults.size(); ++i) {
      if (relation.defaults[i].empty()) continue;
      rows.add({{"oid", relation.oid * 100000 + static_cast<int64_t>(i)},
                {"adrelid", relation.oid},
                {"adnum", i + 1},
                {"adbin", relation.defaults[i]}});
    }
  }
}

void rows_of_pg_index(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (!relation.has_key()) continue;
    rows.add({{"indexrelid", relation.key_oid()},
              {"indrelid", relation.oid},
              {"indnatts", relation.key.size()},
              {"indnkeyatts", relation.key.size()},
              {"indisunique", true},
              {"indisprimary", true},
              {"indimmediate", true},
              {"indisvalid", true},
              {"indisready", true},
              {"indislive", true},
              {"indkey", vector_of(relation.key)},
              {"indcollation", zeros(relation.key.size())},
              {"indclass", zeros(relation.key.size())},
              {"indoption", zeros(relation.key.size())}});
  }
}

void rows_of_pg_constraint(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (!relation.has_key()) continue;
    rows.add({{"oid", relation.constraint_oid()},
              {"conname", relation.key_name()},
              {"connamespace", namespace_oid(relation.schema->schema)},
              {"contype", "p"},
              {"convalidated", true},
              {"conrelid", relation.oid},
              {"conindid", relation.key_oid()},
              {"confupdtype", " "},
              {"confdeltype", " "},
              {"confmatchtype", " "},
              {"conislocal", true},
              {"connoinherit", true},
              {"conkey", array_of(relation.key)}});
  }
}

void rows_of_pg_indexes(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (!relation.has_key()) continue;
    rows.add({{"schemaname", relation.schema->schema},
              {"tablename", relation.schema->name},
              {"indexname", relation.key_name()},
              {"tablespace", std::nullopt},
              {"indexdef", index_definition(relation)}});
  }
}

void rows_of_pg_tables(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (relation.kind != 'r') continue;
    rows.add({{"schemaname", relation.schema->schema},
              {"tablename", relation.schema->name},
              {"tableowner", known.state.user},
              {"tablespace", std::nullopt},
              {"hasindexes", relation.has_key()}});
  }
}

void rows_of_pg_views(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (relation.kind != 'v') continue;
    rows.add({{"schemaname", relation.schema->schema},
              {"viewname", relation.schema->name},
              {"viewowner", known.state.user}});
  }
}

void rows_of_pg_matviews(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (relation.kind != 'm') continue;
    rows.add({{"schemaname", relation.schema->schema},
              {"matviewname", relation.schema->name},
              {"matviewowner", known.state.user},
              {"tablespace", std::nullopt},
              {"ispopulated", true},
              {"definition", query_of(*relation.definition)}});
  }
}

}  // namespace tidemark::sql::system_detail
