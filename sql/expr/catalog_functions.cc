// What clients ask PostgreSQL's catalog by functions. What hangs on the catalog's rows is a query of its
// tables.
#include <array>

#include "sql/expr/function.h"

namespace tidemark::sql {
namespace {

Value made(Evaluation& evaluation, std::string_view text) {
  return Value::text(evaluation.arena.copy(text));
}

// PostgreSQL's modifier of a type as ours.
SqlType with_modifier(TypeKind kind, int64_t modifier) {
  constexpr int kHeader = 4;
  if (modifier < 0) return SqlType::of(kind);
  switch (kind) {
    case TypeKind::Numeric: {
      const auto packed = static_cast<int32_t>(modifier - kHeader);
      return SqlType::numeric((packed >> 16) & 0xffff, ((packed & 0x7ff) ^ 1024) - 1024);
    }
    case TypeKind::Text: return {kind, static_cast<int32_t>(modifier) - kHeader};
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return {kind, static_cast<int32_t>(modifier)};
    default: return SqlType::of(kind);
  }
}

// Types that only catalog tables speak of.
struct OtherType {
  int64_t oid;
  std::string_view name;
};
constexpr std::array<OtherType, 11> kOtherTypes{{{18, "\"char\""},
                                                 {19, "name"},
                                                 {26, "oid"},
                                                 {1042, "character"},
                                                 {1043, "character varying"},
                                                 {114, "json"},
                                                 {700, "real"},
                                                 {1000, "boolean[]"},
                                                 {1007, "integer[]"},
                                                 {1009, "text[]"},
                                                 {2249, "record"}}};

Fault format_type(Evaluation& evaluation, const Value* args, int, Value& out) {
  if (args[0].is_null()) {
    out = Value::null();
    return kOk;
  }
  const int64_t oid = args[0].as_int();
  const int64_t modifier = args[1].is_null() ? -1 : args[1].as_int();
  if (oid == 1043 && modifier >= 0) {
    out = made(evaluation, type_name(with_modifier(TypeKind::Text, modifier)));
    return kOk;
  }
  for (const OtherType& type : kOtherTypes) {
    if (type.oid != oid) continue;
    out = made(evaluation, type.name);
    return kOk;
  }
  const auto kind = oid > 0 && oid <= UINT32_MAX ? type_of_oid(static_cast<uint32_t>(oid)) : std::nullopt;
  if (oid == 0) {
    out = made(evaluation, "-");
  } else {
    out = made(evaluation, kind ? type_name(with_modifier(*kind, modifier)) : "???");
  }
  return kOk;
}

// Expressions are kept as text.
Fault first(Evaluation&, const Value* args, int, Value& out) {
  out = args[0];
  return kOk;
}

Fault always(Evaluation&, const Value*, int, Value& out) {
  out = Value::boolean(true);
  return kOk;
}
Fault never(Evaluation&, const Value*, int, Value& out) {
  out = Value::boolean(false);
  return kOk;
}
Fault nothing(Evaluation&, const Value*, int, Value& out) {
  out = Value::null();
  return kOk;
}
Fault zero(Evaluation&, const Value*, int, Value& out) {
  out = Value::bigint(0);
  return kOk;
}

Fault encoding_name(Evaluation&, const Value* args, int, Value& out) {
  constexpr int64_t kUtf8 = 6;
  out = Value::text(args[0].as_int() == kUtf8 ? "UTF8" : "");
  return kOk;
}

Fault current_schemas(Evaluation&, const Value* args, int, Value& out) {
  out = Value::text(args[0].as_bool() ? "{pg_catalog,public}" : "{public}");
  return kOk;
}

bool is_plain_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (char c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote) out.push_back(quote);
    out.push_back(c);
  }
  return out + quote;
}

Fault quote_ident(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view name = args[0].as_bytes();
  if (!is_plain_identifier(name)) {
    out = made(evaluation, quoted(name, '"'));
  } else {
    out = args[0];
  }
  return kOk;
}
Fault quote_literal(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view text = args[0].as_bytes();
  if (text.find('\\') == std::string_view::npos) {
    out = made(evaluation, quoted(text, '\''));
    return kOk;
  }
  std::string escaped;
  for (char c : text) escaped += c == '\\' ? "\\\\" : std::string(1, c);
  out = made(evaluation, "E" + quoted(escaped, '\''));
  return kOk;
}

Fault size_pretty(Evaluation& evaluation, const Value* args, int, Value& out) {
  constexpr std::array<std::string_view, 5> kUnits{"bytes", "kB", "MB", "GB", "TB"};
  int64_t size = args[0].as_int();
  size_t unit = 0;
  for (; unit + 1 < kUnits.size() && (size >= 10240 || size <= -10240); ++unit) size /= 1024;
  out = made(evaluation, std::to_string(size) + " " + std::string(kUnits[unit]));
  return kOk;
}

Function stable(Function function) {
  function.volatility = Volatility::Stable;
  return function;
}

Function nullable(Function function) {
  function.strict = false;
  return stable(std::move(function));
}

Function query(std::string_view name, std::initializer_list<TypeKind> args, TypeKind result,
               std::string_view body) {
  Function out = Function::of(name, args, result, nullptr);
  out.body = body;
  out.volatility = Volatility::Stable;
  return out;
}

constexpr TypeKind kOid = TypeKind::BigInt;
constexpr TypeKind kText = TypeKind::Text;
constexpr TypeKind kBoolean = TypeKind::Boolean;

// Names with or without their schema, or the number itself.
constexpr std::string_view kRelationByName =
    "SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.oid::text = $1 OR n.nspname || '.' || c.relname = replace($1, '\"', '') "
    "OR (c.relname = replace($1, '\"', '') AND n.nspname IN ('public', 'pg_catalog')) "
    "ORDER BY n.nspname DESC LIMIT 1";
constexpr std::string_view kTypeByName =
    "SELECT oid FROM pg_catalog.pg_type WHERE oid::text = $1 OR typname = $1 OR 'pg_catalog.' || typname = "
    "$1 "
    "OR format_type(oid, NULL) = $1 LIMIT 1";
constexpr std::string_view kVisibleRelation =
    "SELECT n.nspname IN ('public', 'pg_catalog') FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1";

void add_queries(std::vector<Function>& out) {
  out.push_back(query("regclassin", {kText}, kOid, kRelationByName));
  out.push_back(query("to_regclass", {kText}, kOid, kRelationByName));
  out.push_back(query("regclassout", {kOid}, kText,
                      "SELECT CASE WHEN n.nspname IN ('public', 'pg_catalog') THEN quote_ident(c.relname) "
                      "ELSE quote_ident(n.nspname) || '.' || quote_ident(c.relname) END "
                      "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
                      "WHERE c.oid = $1"));
  out.push_back(query("regtypein", {kText}, kOid, kTypeByName));
  out.push_back(query("to_regtype", {kText}, kOid, kTypeByName));
  out.push_back(
      query("regprocin", {kText}, kOid,
            "SELECT oid FROM pg_catalog.pg_proc WHERE proname = $1 OR 'pg_catalog.' || proname = $1 "
            "LIMIT 1"));
  out.push_back(query("regprocout", {kOid}, kText, "SELECT proname FROM pg_catalog.pg_proc WHERE oid = $1"));
  out.push_back(
      query("regnamespacein", {kText}, kOid, "SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1"));
  out.push_back(
      query("regnamespaceout", {kOid}, kText, "SELECT nspname FROM pg_catalog.pg_namespace WHERE oid = $1"));
  out.push_back(query("regrolein", {kText}, kOid, "SELECT oid FROM pg_catalog.pg_roles WHERE rolname = $1"));
  for (std::string_view name : {"pg_get_userbyid", "regroleout"}) {
    out.push_back(query(name, {kOid}, kText, "SELECT rolname FROM pg_catalog.pg_roles WHERE oid = $1"));
  }
  out.push_back(query("pg_table_is_visible", {kOid}, kBoolean, kVisibleRelation));
  out.push_back(query("pg_relation_is_visible", {kOid}, kBoolean, kVisibleRelation));
  constexpr std::string_view kDefinition =
      "SELECT m.definition FROM pg_catalog.pg_matviews m "
      "JOIN pg_catalog.pg_class c ON c.relname = m.matviewname "
      "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = m.schemaname WHERE c.oid = "
      "$1";
  out.push_back(query("pg_get_viewdef", {kOid}, kText, kDefinition));
  out.push_back(query("pg_get_viewdef", {kOid, kBoolean}, kText, kDefinition));
  constexpr std::string_view kIndex =
      "SELECT x.indexdef FROM pg_catalog.pg_indexes x JOIN pg_catalog.pg_class c ON c.relname = x.indexname "
      "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = x.schemaname WHERE c.oid = "
      "$1";
  out.push_back(query("pg_get_indexdef", {kOid}, kText, kIndex));
  out.push_back(query("pg_get_indexdef", {kOid, TypeKind::Integer, kBoolean}, kText,
                      "SELECT CASE WHEN $2 = 0 AND $3 THEN replace(x.indexdef, ' ON public.', ' ON ') "
                      "WHEN $2 = 0 THEN x.indexdef ELSE "
                      "(SELECT quote_ident(a.attname) FROM pg_catalog.pg_attribute a "
                      "WHERE a.attrelid = c.oid AND a.attnum = $2) END "
                      "FROM pg_catalog.pg_indexes x JOIN pg_catalog.pg_class c ON c.relname = x.indexname "
                      "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = x.schemaname "
                      "WHERE c.oid = $1"));
  constexpr std::string_view kConstraint =
      "SELECT 'PRIMARY KEY (' || (SELECT string_agg(quote_ident(a.attname), ', ') "
      "FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.conindid) || ')' "
      "FROM pg_catalog.pg_constraint c WHERE c.oid = $1";
  out.push_back(query("pg_get_constraintdef", {kOid}, kText, kConstraint));
  out.push_back(query("pg_get_constraintdef", {kOid, kBoolean}, kText, kConstraint));
  constexpr std::string_view kSetting = "SELECT setting FROM pg_catalog.pg_settings WHERE name = lower($1)";
  out.push_back(query("current_setting", {kText}, kText, kSetting));
  out.push_back(query("current_setting", {kText, kBoolean}, kText, kSetting));
}

void add_privileges(std::vector<Function>& out) {
  for (std::string_view name :
       {"has_table_privilege", "has_schema_privilege", "has_database_privilege", "has_any_column_privilege",
        "has_function_privilege", "has_type_privilege", "has_sequence_privilege", "pg_has_role"}) {
    for (TypeKind object : {kText, kOid}) {
      out.push_back(stable(Function::of(name, {object, kText}, kBoolean, always)));
      out.push_back(stable(Function::of(name, {kText, object, kText}, kBoolean, always)));
      out.push_back(stable(Function::of(name, {kOid, object, kText}, kBoolean, always)));
    }
  }
}

}  // namespace

std::vector<Function> catalog_functions() {
  constexpr TypeKind I = TypeKind::Integer;
  std::vector<Function> out{
      nullable(Function::of("format_type", {kOid, I}, kText, format_type)),
      stable(Function::of("pg_get_expr", {kText, kOid}, kText, first)),
      stable(Function::of("pg_get_expr", {kText, kOid, kBoolean}, kText, first)),
      stable(Function::of("pg_encoding_to_char", {I}, kText, encoding_name)),
      stable(Function::of("current_schemas", {kBoolean}, kText, current_schemas)),
      Function::of("quote_ident", {kText}, kText, quote_ident),
      Function::of("quote_literal", {kText}, kText, quote_literal),
      stable(Function::of("pg_function_is_visible", {kOid}, kBoolean, always)),
      stable(Function::of("pg_type_is_visible", {kOid}, kBoolean, always)),
      stable(Function::of("pg_relation_is_publishable", {kText}, kBoolean, never)),
      stable(Function::of("pg_relation_is_publishable", {kOid}, kBoolean, never)),
      stable(Function::of("pg_is_in_recovery", {}, kBoolean, never)),
      stable(Function::of("pg_is_other_temp_schema", {kOid}, kBoolean, never)),
      stable(Function::of("obj_description", {kOid}, kText, nothing)),
      stable(Function::of("obj_description", {kOid, kText}, kText, nothing)),
      stable(Function::of("shobj_description", {kOid, kText}, kText, nothing)),
      stable(Function::of("col_description", {kOid, I}, kText, nothing)),
      stable(Function::of("pg_get_statisticsobjdef_columns", {kOid}, kText, nothing)),
      stable(Function::of("pg_get_function_result", {kOid}, kText, nothing)),
      stable(Function::of("pg_get_function_arguments", {kOid}, kText, nothing)),
      stable(Function::of("pg_get_function_identity_arguments", {kOid}, kText, nothing)),
      stable(Function::of("pg_get_serial_sequence", {kText, kText}, kText, nothing)),
      stable(Function::of("pg_get_ruledef", {kOid}, kText, nothing)),
      stable(Function::of("pg_get_ruledef", {kOid, kBoolean}, kText, nothing)),
      stable(Function::of("pg_get_partkeydef", {kOid}, kText, nothing)),
      stable(Function::of("pg_tablespace_location", {kOid}, kText, nothing)),
      Function::of("pg_size_pretty", {TypeKind::BigInt}, kText, size_pretty),
  };
  for (std::string_view name : {"pg_table_size", "pg_relation_size", "pg_total_relation_size",
                                "pg_indexes_size", "pg_database_size"}) {
    out.push_back(stable(Function::of(name, {kOid}, TypeKind::BigInt, zero)));
  }
  add_queries(out);
  add_privileges(out);
  return out;
}

}  // namespace tidemark::sql
