// pg_catalog: types, and what is the same in every cluster.
#include <array>

#include "sql/system/table_list.h"

namespace tidemark::sql::system_detail {
namespace {

constexpr int64_t kDefaultTablespace = 1663;
constexpr int64_t kUtf8 = 6;

// Types that expressions do not have, but clients ask for by name or number.
struct OtherType {
  int64_t oid;
  std::string_view name;
  int length;
  char category;
};
constexpr std::array<OtherType, 12> kOtherTypes{{{18, "char", 1, 'Z'},
                                                 {19, "name", 64, 'S'},
                                                 {22, "int2vector", -1, 'A'},
                                                 {26, "oid", 4, 'N'},
                                                 {30, "oidvector", -1, 'A'},
                                                 {114, "json", -1, 'U'},
                                                 {700, "float4", 4, 'N'},
                                                 {1042, "bpchar", -1, 'S'},
                                                 {1043, "varchar", -1, 'S'},
                                                 {2205, "regclass", 4, 'N'},
                                                 {2206, "regtype", 4, 'N'},
                                                 {2249, "record", -1, 'P'}}};

constexpr std::array<std::string_view, 16> kNames{
    "",      "bool", "int2",      "int4",        "int8", "numeric", "float8",   "text",
    "bytea", "date", "timestamp", "timestamptz", "uuid", "jsonb",   "interval", "unknown"};
static_assert(kNames.size() == kTypeKindCount);

char category_letter(TypeKind kind) {
  switch (category_of(kind)) {
    case TypeCategory::Boolean: return 'B';
    case TypeCategory::Number: return 'N';
    case TypeCategory::String: return 'S';
    case TypeCategory::DateTime: return 'D';
    case TypeCategory::Timespan: return 'T';
    case TypeCategory::Other: return 'U';
    case TypeCategory::Unknown: return 'X';
  }
  TM_UNREACHABLE();
}

void add_type(int64_t oid, std::string_view name, int length, char category, bool preferred, Rows& rows) {
  const bool has_collation = category == 'S';
  rows.add({{"oid", oid},
            {"typname", name},
            {"typnamespace", namespace_oid("pg_catalog")},
            {"typowner", kOwnerOid},
            {"typlen", length},
            {"typbyval", length > 0 && length <= 8},
            {"typtype", category == 'P' || category == 'X' ? "p" : "b"},
            {"typcategory", std::string(1, category)},
            {"typispreferred", preferred},
            {"typisdefined", true},
            {"typdelim", ","},
            {"typalign", "i"},
            {"typstorage", length < 0 ? "x" : "p"},
            {"typtypmod", -1},
            {"typcollation", has_collation ? kDefaultCollation : 0}});
}

void add_role(const Known& known, Rows& rows) {
  rows.add({{"oid", kOwnerOid},
            {"rolname", known.state.user},
            {"rolsuper", true},
            {"rolinherit", true},
            {"rolcreaterole", true},
            {"rolcreatedb", true},
            {"rolcanlogin", true},
            {"rolreplication", false},
            {"rolbypassrls", true},
            {"rolconnlimit", -1}});
}

struct Keyword {
  std::string_view word;
  char category;
};
// Those that PostgreSQL adds to SQL's own.
constexpr std::array<Keyword, 20> kKeywords{
    {{"analyse", 'R'},  {"analyze", 'R'}, {"array", 'R'},   {"asc", 'R'},       {"concurrently", 'T'},
     {"conflict", 'U'}, {"copy", 'U'},    {"desc", 'R'},    {"do", 'R'},        {"explain", 'U'},
     {"freeze", 'T'},   {"ilike", 'T'},   {"isnull", 'T'},  {"limit", 'R'},     {"materialized", 'U'},
     {"notnull", 'T'},  {"offset", 'R'},  {"placing", 'R'}, {"returning", 'R'}, {"variadic", 'R'}}};

}  // namespace

void rows_of_pg_type(const Known&, Rows& rows) {
  for (int i = 1; i < kTypeKindCount; ++i) {
    const auto kind = static_cast<TypeKind>(i);
    add_type(type_oid(kind), kNames[i], type_length(kind), category_letter(kind), is_preferred(kind), rows);
  }
  for (const OtherType& type : kOtherTypes)
    add_type(type.oid, type.name, type.length, type.category, false, rows);
}

void rows_of_pg_roles(const Known& known, Rows& rows) {
  add_role(known, rows);
}

void rows_of_pg_authid(const Known& known, Rows& rows) {
  add_role(known, rows);
}

void rows_of_pg_user(const Known& known, Rows& rows) {
  rows.add({{"usename", known.state.user},
            {"usesysid", kOwnerOid},
            {"usecreatedb", true},
            {"usesuper", true},
            {"usebypassrls", true}});
}

void rows_of_pg_database(const Known& known, Rows& rows) {
  rows.add({{"oid", kDatabaseOid},
            {"datname", known.state.database},
            {"datdba", kOwnerOid},
            {"encoding", kUtf8},
            {"datlocprovider", "c"},
            {"datallowconn", true},
            {"datconnlimit", -1},
            {"dattablespace", kDefaultTablespace},
            {"datcollate", "C"},
            {"datctype", "C"}});
}

void rows_of_pg_tablespace(const Known&, Rows& rows) {
  rows.add({{"oid", kDefaultTablespace}, {"spcname", "pg_default"}, {"spcowner", kOwnerOid}});
}

void rows_of_pg_am(const Known&, Rows& rows) {
  rows.add({{"oid", kHeapOid}, {"amname", "heap"}, {"amtype", "t"}});
  rows.add({{"oid", kBtreeOid}, {"amname", "btree"}, {"amtype", "i"}});
}

void rows_of_pg_collation(const Known&, Rows& rows) {
  const auto add = [&rows](int64_t oid, std::string_view name) {
    rows.add({{"oid", oid},
              {"collname", name},
              {"collnamespace", namespace_oid("pg_catalog")},
              {"collowner", kOwnerOid},
              {"collprovider", oid == kDefaultCollation ? "d" : "c"},
              {"collisdeterministic", true},
              {"collencoding", -1}});
  };
  add(kDefaultCollation, "default");
  add(950, "C");
  add(951, "POSIX");
}

void rows_of_pg_language(const Known&, Rows& rows) {
  rows.add({{"oid", 14}, {"lanname", "sql"}, {"lanowner", kOwnerOid}, {"lanpltrusted", true}});
}

// A few that clients look up by name to learn what a type is.
void rows_of_pg_proc(const Known&, Rows& rows) {
  const auto add = [&rows](int64_t oid, std::string_view name) {
    rows.add({{"oid", oid},
              {"proname", name},
              {"pronamespace", namespace_oid("pg_catalog")},
              {"proowner", kOwnerOid},
              {"prolang", 12},
              {"prokind", "f"},
              {"proisstrict", true},
              {"provolatile", "s"},
              {"proparallel", "s"},
              {"prorettype", 2281}});
  };
  add(750, "array_in");
  add(751, "array_out");
}

void rows_of_pg_settings(const Known& known, Rows& rows) {
  for (const SystemSetting& setting : known.state.settings) {
    rows.add({{"name", setting.name},
              {"setting", setting.value},
              {"short_desc", setting.description},
              {"context", "user"},
              {"vartype", "string"},
              {"source", "session"},
              {"reset_val", setting.value},
              {"boot_val", setting.value}});
  }
}

void rows_of_pg_get_keywords(const Known&, Rows& rows) {
  for (const Keyword& keyword : kKeywords) {
    rows.add({{"word", keyword.word}, {"catcode", std::string(1, keyword.category)}, {"barelabel", true}});
  }
}

}  // namespace tidemark::sql::system_detail
