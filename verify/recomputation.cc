#include "verify/recomputation.h"

#include <cstdlib>

#include "base/assert.h"
#include "verify/decimal.h"
#include "verify/functions.h"
#include "verify/try.h"

namespace tidemark::verify {

namespace {

constexpr size_t kRowsPerTransaction = 100'000;

std::string numbered(const char* prefix, size_t count) {
  std::string out;
  for (size_t i = 1; i <= count; ++i) out += (i > 1 ? ", " : "") + std::string(prefix) + std::to_string(i);
  return out;
}

std::string canonical(Type type, std::string text) {
  if (type.kind == TypeKind::Float8)
    return text == "-0" ? "0" : double_text(std::strtod(text.c_str(), nullptr));
  return type.any_of_equals ? equality_key(type.kind, text) : text;
}

}  // namespace

std::string encoded(const std::vector<std::optional<std::string>>& fields) {
  std::string out;
  for (const auto& field : fields) {
    out += '\0';  // No text has one.
    out += field ? 'v' : 'n';
    if (field) out += *field;
  }
  return out;
}

std::vector<std::optional<std::string>> decoded(const std::string& row) {
  std::vector<std::optional<std::string>> out;
  for (size_t at = 0; at < row.size();) {
    const size_t next = std::min(row.find('\0', at + 1), row.size());
    if (row[at + 1] == 'v') {
      out.emplace_back(row.substr(at + 2, next - at - 2));
    } else {
      out.emplace_back();
    }
    at = next;
  }
  return out;
}

Recomputation::Recomputation(Database& database, const std::vector<ServerRelation>& relations)
    : database_(database) {
  for (const ServerRelation& relation : relations) relations_[relation.name] = &relation;
  for (const ServerRelation& relation : relations) {
    if (!relation.definition) add_base(relation);
  }
  for (const ServerRelation& relation : relations) {
    if (relation.definition) plan_view(relation);
  }
}

std::string Recomputation::sqlite_name(const std::string& name) const {
  return "t" + std::to_string(std::distance(relations_.begin(), relations_.find(name)));
}

void Recomputation::add_base(const ServerRelation& relation) {
  Base base;
  Table table{relation.name, sqlite_name(relation.name), {}, {}};
  for (const ServerColumn& column : relation.columns) {
    const auto kind = type_of_name(column.type);
    if (!kind) base.obstacle = "\"" + relation.name + "\" has a column of type " + column.type;
    base.types.push_back(kind.value_or(TypeKind::Unknown));
    table.columns.push_back({column.name, {base.types.back()}});
  }
  if (!relation.key.empty()) table.identity = relation.key.size();
  bases_[relation.name] = std::move(base);
  tables_.push_back(std::move(table));
}

// After the views below it, whatever the order they are met in. A view can not be below itself.
void Recomputation::plan_view(const ServerRelation& relation) {
  if (views_.contains(relation.name)) return;
  View& view = views_[relation.name];
  if (Status status = translate_view(relation, view); !status.ok()) view.obstacle = status.error().message;
}

Status Recomputation::translate_view(const ServerRelation& of, View& view) {
  TM_ASSIGN(ParsedQuery query, ParsedQuery::parse(*of.definition));
  for (const std::string& name : query.relations()) {
    if (!relations_.contains(name) || name == of.name) continue;
    view.sources.insert(name);
    if (!relation(name).definition) {
      if (!bases_.at(name).obstacle.empty()) return Error{bases_.at(name).obstacle};
      continue;
    }
    plan_view(relation(name));
    if (!views_.at(name).obstacle.empty())
      return Error{"\"" + name + "\" below it: " + views_.at(name).obstacle};
  }
  TM_ASSIGN(view.translation, translate(query, tables_));
  std::vector<Column>& columns = view.translation.columns;
  if (columns.size() != of.columns.size()) return Error{"it has other columns than its query"};
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto kind = type_of_name(of.columns[i].type);
    if (kind != columns[i].type.kind) {
      return Error{"column \"" + of.columns[i].name + "\" has type " + of.columns[i].type + ", and not " +
                   std::string(type_name(columns[i].type.kind))};
    }
    columns[i].name = of.columns[i].name;
  }
  tables_.push_back({of.name, sqlite_name(of.name), columns, view.translation.identity});
  return {};
}

std::set<std::string> Recomputation::base_tables(const std::set<std::string>& views) const {
  std::set<std::string> out;
  for (const std::string& name : views) {
    for (const std::string& source : views_.at(name).sources) {
      if (bases_.contains(source)) {
        out.insert(source);
      } else {
        out.merge(base_tables({source}));
      }
    }
  }
  return out;
}

std::set<std::string> Recomputation::with_views_below(const std::string& view) const {
  std::set<std::string> out = {view};
  for (const std::string& source : views_.at(view).sources) {
    if (views_.contains(source)) out.merge(with_views_below(source));
  }
  return out;
}

Status Recomputation::copy(Server& server, const std::string& table) {
  const ServerRelation& from = relation(table);
  const std::vector<TypeKind>& types = bases_.at(table).types;
  const std::string name = sqlite_name(table);
  const size_t width = types.size(), key = from.key.size();
  TM_TRY(database_.run("DROP TABLE IF EXISTS " + name));
  TM_TRY(database_.run("CREATE TABLE " + name + " (" + numbered("c", width) + (key > 0 ? ", " : "") +
                       numbered("k", key) + ")"));
  std::string marks;
  for (size_t i = 0; i < width + key; ++i) marks += i > 0 ? ", ?" : "?";
  TM_ASSIGN(Statement insert, database_.prepare("INSERT INTO " + name + " VALUES (" + marks + ")"));
  TM_TRY(database_.run("BEGIN"));
  size_t count = 0;
  const Status read = server.read(from, [&](const ServerRow& row) -> Status {
    for (size_t i = 0; i < width; ++i) {
      if (!row[i]) continue;
      TM_ASSIGN(Value value, value_of_text(types[i], std::string(*row[i])));
      insert.bind(static_cast<int>(i), value);
    }
    for (size_t i = 0; i < key; ++i) {
      const size_t column = from.key[i];
      if (!row[column]) continue;
      const std::string text(*row[column]);
      TM_ASSIGN(Value value, value_of_text(types[column], text));
      if (types[column] == TypeKind::Numeric) value = Decimal::parse(text)->key();
      insert.bind(static_cast<int>(width + i), value);
    }
    TM_ASSIGN(bool more, insert.step());
    TM_ASSERT(!more);
    insert.reset();
    if (++count % kRowsPerTransaction != 0) return {};
    TM_TRY(database_.run("COMMIT"));
    return database_.run("BEGIN");
  });
  TM_TRY(database_.run("COMMIT"));
  if (!read.ok()) return Error{"reading \"" + table + "\": " + read.error().message};
  return {};
}

void Recomputation::forget() {
  for (auto& [name, view] : views_) view.computed = false;
}

Status Recomputation::compute(const std::string& name) {
  View& view = views_.at(name);
  TM_ASSERT(view.obstacle.empty());
  if (view.computed) return {};
  for (const std::string& source : view.sources) {
    if (views_.contains(source)) TM_TRY(compute(source));
  }
  const std::string table = sqlite_name(name);
  TM_TRY(database_.run("DROP TABLE IF EXISTS " + table));
  TM_TRY(database_.run("CREATE TABLE " + table + " AS " + view.translation.sql));
  view.computed = true;
  return {};
}

Result<bool> Recomputation::has_ties(const std::string& name) {
  const View& view = views_.at(name);
  for (const std::string& probe : view.translation.tie_probes) {
    TM_ASSIGN(Statement statement, database_.prepare(probe));
    TM_ASSIGN(bool found, statement.step());
    if (found) return true;
  }
  for (const std::string& source : view.sources) {
    if (!views_.contains(source)) continue;
    TM_ASSIGN(bool below, has_ties(source));
    if (below) return true;
  }
  return false;
}

Status Recomputation::rows(const std::string& name, const std::function<Status(std::string)>& each) {
  const std::vector<Column>& columns = views_.at(name).translation.columns;
  TM_ASSIGN(Statement statement,
            database_.prepare("SELECT " + numbered("c", columns.size()) + " FROM " + sqlite_name(name)));
  std::vector<std::optional<std::string>> fields;
  for (;;) {
    TM_ASSIGN(bool more, statement.step());
    if (!more) return {};
    fields.clear();
    for (size_t i = 0; i < columns.size(); ++i) {
      const Value value = statement.column(static_cast<int>(i));
      fields.emplace_back();
      if (!is_null(value)) fields.back() = canonical(columns[i].type, text_of(columns[i].type.kind, value));
    }
    TM_TRY(each(encoded(fields)));
  }
}

std::string Recomputation::encode_found(const std::string& name, const ServerRow& row) const {
  const std::vector<Column>& columns = views_.at(name).translation.columns;
  std::vector<std::optional<std::string>> fields;
  for (size_t i = 0; i < columns.size(); ++i) {
    fields.emplace_back();
    if (row[i]) fields.back() = canonical(columns[i].type, std::string(*row[i]));
  }
  return encoded(fields);
}

}  // namespace tidemark::verify
