#include "sql/system/relations.h"

#include "sql/bind/statement.h"
#include "sql/parse/parser.h"
#include "sql/system/table_list.h"

namespace tidemark::sql::system_detail {
namespace {

// User tables come after all that PostgreSQL numbers itself; each has four numbers, for itself, its key's
// index and the key as a constraint.
constexpr int64_t kFirstUserOid = 16384;
constexpr int64_t kOidsPerTable = 4;

class NoTables : public Catalog {
 public:
  TableSchemaPtr find_table(std::string_view, std::string_view) const override { return nullptr; }
};

// The statement that made the table says what its columns are if nothing is given.
void take_defaults(KnownRelation& out) {
  const std::string& sql = out.definition->sql();
  const auto parsed = parse_statements(sql);
  if (!parsed.ok() || parsed->size() != 1) return;
  const NoTables nothing;
  ParamTypes params;
  const auto bound = bind_statement((*parsed)[0], sql, nothing, params);
  const auto* create = bound.ok() ? std::get_if<CreateTableStatement>(&bound->body) : nullptr;
  if (create == nullptr || create->table.columns.size() != out.defaults.size()) return;
  for (size_t i = 0; i < out.defaults.size(); ++i) out.defaults[i] = create->table.columns[i].default_sql;
}

bool is_alive(const pb::TableDefinition& table, uint64_t version) {
  return table.kind() != pb::AUXILIARY && table.created() <= version &&
         (table.dropped() == 0 || table.dropped() > version) &&
         (table.replaces() == 0 || table.filled() != 0);
}

KnownRelation user_relation(const pb::TableDefinition& definition, const StoredTable& stored) {
  KnownRelation out;
  out.oid = kFirstUserOid + kOidsPerTable * definition.id();
  out.kind = definition.kind() == pb::VIEW ? 'm' : 'r';
  out.schema = schema_of(stored);
  out.definition = &definition;
  out.not_null.resize(out.schema->columns.size());
  out.defaults.resize(out.schema->columns.size());
  if (definition.kind() == pb::VIEW) return out;
  out.key = out.schema->key_columns();
  for (int i = 0; i < definition.columns_size(); ++i) out.not_null[i] = definition.columns(i).not_null();
  for (int column : out.key) out.not_null[column] = true;
  take_defaults(out);
  return out;
}

}  // namespace

int64_t namespace_oid(std::string_view name) {
  for (const Namespace& known : kNamespaces) {
    if (known.name == name) return known.oid;
  }
  return 0;
}

Known known_of(const SystemState& state) {
  Known out{state, {}};
  for (const SystemTable& table : table_list()) {
    KnownRelation& relation = out.relations.emplace_back();
    relation.oid = table.oid;
    relation.kind = table.kind;
    relation.schema = SystemTables::builtin().find(table.schema, table.name);
    relation.not_null.resize(relation.schema->columns.size());
    relation.defaults.resize(relation.schema->columns.size());
  }
  if (state.catalog == nullptr || state.plans == nullptr) return out;
  for (const pb::TableDefinition& definition : state.catalog->tables()) {
    if (!is_alive(definition, state.catalog->version())) continue;
    const StoredTablePtr stored = state.plans->table(TableId{definition.id()});
    if (stored != nullptr) out.relations.push_back(user_relation(definition, *stored));
  }
  return out;
}

std::string query_of(const pb::TableDefinition& view) {
  const auto parsed = parse_statements(view.sql());
  if (!parsed.ok() || parsed->size() != 1) return {};
  const auto* create = std::get_if<ast::CreateView>(&(*parsed)[0].body);
  if (create == nullptr) return {};
  return view.sql().substr(create->query_begin, create->query_end - create->query_begin);
}

int64_t pg_type_oid(const SqlType& type) {
  constexpr int64_t kVarchar = 1043;
  return type.kind == TypeKind::Text && type.has_modifier() ? kVarchar : type_oid(type.kind);
}

int64_t pg_type_modifier(const SqlType& type) {
  constexpr int64_t kHeader = 4;
  if (!type.has_modifier()) return -1;
  switch (type.kind) {
    case TypeKind::Text: return type.modifier + kHeader;
    case TypeKind::Numeric:
      return ((static_cast<int64_t>(type.numeric_precision()) << 16) | (type.numeric_scale() & 0x7ff)) +
             kHeader;
    default: return type.modifier;
  }
}

std::string quoted_identifier(std::string_view name) {
  bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name) plain = plain && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
  if (plain) return std::string(name);
  std::string out = "\"";
  for (char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string key_list(const KnownRelation& relation) {
  std::string out;
  for (int column : relation.key) {
    out += (out.empty() ? "" : ", ") + quoted_identifier(relation.schema->columns[column].name);
  }
  return out;
}

}  // namespace tidemark::sql::system_detail
