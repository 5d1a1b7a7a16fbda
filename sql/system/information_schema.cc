// information_schema. Materialized views are told as views: tools that look for what they can read look here.
#include "sql/system/table_list.h"

namespace tidemark::sql::system_detail {
namespace {

std::string_view yes(bool value) {
  return value ? "YES" : "NO";
}

std::string data_type(const SqlType& type) {
  if (type.kind == TypeKind::Text && type.has_modifier()) return "character varying";
  return std::string(type_name(type.kind));
}

std::string udt_name(const SqlType& type) {
  switch (type.kind) {
    case TypeKind::Boolean: return "bool";
    case TypeKind::SmallInt: return "int2";
    case TypeKind::Integer: return "int4";
    case TypeKind::BigInt: return "int8";
    case TypeKind::Double: return "float8";
    case TypeKind::Text: return type.has_modifier() ? "varchar" : "text";
    case TypeKind::Timestamp: return "timestamp";
    case TypeKind::TimestampTz: return "timestamptz";
    default: return std::string(type_name(type.kind));
  }
}

struct Digits {
  std::optional<int> precision, radix, scale;
};

Digits digits_of(const SqlType& type) {
  switch (type.kind) {
    case TypeKind::SmallInt: return {16, 2, 0};
    case TypeKind::Integer: return {32, 2, 0};
    case TypeKind::BigInt: return {64, 2, 0};
    case TypeKind::Double: return {53, 2, std::nullopt};
    case TypeKind::Numeric:
      if (!type.has_modifier()) return {std::nullopt, 10, std::nullopt};
      return {type.numeric_precision(), 10, type.numeric_scale()};
    default: return {};
  }
}

std::optional<int> datetime_precision(const SqlType& type) {
  switch (type.kind) {
    case TypeKind::Date: return 0;
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return type.has_modifier() ? type.modifier : 6;
    default: return std::nullopt;
  }
}

std::optional<int> characters_max(const SqlType& type) {
  if (type.kind != TypeKind::Text || !type.has_modifier()) return std::nullopt;
  return type.modifier;
}
std::optional<int> octets_max(const SqlType& type) {
  constexpr int kUnlimited = 1 << 30;
  if (type.kind != TypeKind::Text) return std::nullopt;
  return type.has_modifier() ? type.modifier * 4 : kUnlimited;
}

}  // namespace

void rows_of_schema_schemata(const Known& known, Rows& rows) {
  for (const Namespace& space : kNamespaces) {
    rows.add({{"catalog_name", known.state.database},
              {"schema_name", space.name},
              {"schema_owner", known.state.user}});
  }
}

void rows_of_schema_tables(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    const bool is_table = relation.kind == 'r';
    rows.add({{"table_catalog", known.state.database},
              {"table_schema", relation.schema->schema},
              {"table_name", relation.schema->name},
              {"table_type", is_table ? "BASE TABLE" : "VIEW"},
              {"is_insertable_into", yes(is_table && !relation.is_system())},
              {"is_typed", "NO"}});
  }
}

void rows_of_schema_views(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (relation.kind == 'r') continue;
    rows.add({{"table_catalog", known.state.database},
              {"table_schema", relation.schema->schema},
              {"table_name", relation.schema->name},
              {"view_definition",
               relation.is_system() ? std::optional<std::string>() : query_of(*relation.definition)},
              {"check_option", "NONE"},
              {"is_updatable", "NO"},
              {"is_insertable_into", "NO"}});
  }
}

void rows_of_schema_columns(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    for (size_t i = 0; i < relation.schema->columns.size(); ++i) {
      const SchemaColumn& column = relation.schema->columns[i];
      const Digits digits = digits_of(column.type);
      const bool has_default = !relation.defaults[i].empty();
      rows.add(
          {{"table_catalog", known.state.database},
           {"table_schema", relation.schema->schema},
           {"table_name", relation.schema->name},
           {"column_name", column.name},
           {"ordinal_position", i + 1},
           {"column_default", has_default ? std::optional<std::string>(relation.defaults[i]) : std::nullopt},
           {"is_nullable", yes(!relation.not_null[i])},
           {"data_type", data_type(column.type)},
           {"character_maximum_length", characters_max(column.type)},
           {"character_octet_length", octets_max(column.type)},
           {"numeric_precision", digits.precision},
           {"numeric_precision_radix", digits.radix},
           {"numeric_scale", digits.scale},
           {"datetime_precision", datetime_precision(column.type)},
           {"udt_catalog", known.state.database},
           {"udt_schema", "pg_catalog"},
           {"udt_name", udt_name(column.type)},
           {"dtd_identifier", std::to_string(i + 1)},
           {"is_self_referencing", "NO"},
           {"is_identity", "NO"},
           {"identity_cycle", "NO"},
           {"is_generated", "NEVER"},
           {"is_updatable", yes(relation.kind == 'r' && !relation.is_system())}});
    }
  }
}

void rows_of_schema_table_constraints(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (!relation.has_key()) continue;
    rows.add({{"constraint_catalog", known.state.database},
              {"constraint_schema", relation.schema->schema},
              {"constraint_name", relation.key_name()},
              {"table_catalog", known.state.database},
              {"table_schema", relation.schema->schema},
              {"table_name", relation.schema->name},
              {"constraint_type", "PRIMARY KEY"},
              {"is_deferrable", "NO"},
              {"initially_deferred", "NO"},
              {"enforced", "YES"}});
  }
}

void rows_of_schema_key_column_usage(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    for (size_t i = 0; i < relation.key.size(); ++i) {
      rows.add({{"constraint_catalog", known.state.database},
                {"constraint_schema", relation.schema->schema},
                {"constraint_name", relation.key_name()},
                {"table_catalog", known.state.database},
                {"table_schema", relation.schema->schema},
                {"table_name", relation.schema->name},
                {"column_name", relation.schema->columns[relation.key[i]].name},
                {"ordinal_position", i + 1}});
    }
  }
}

}  // namespace tidemark::sql::system_detail
