#include "tests/views/random_queries.h"

#include "base/assert.h"

namespace tidemark::views {

namespace {

void add(Query& query, Kind kind) {
  query.columns.push_back({"c" + std::to_string(query.columns.size() + 1), kind});
}

// The select list: each expression under the name of its column.
std::string list(const std::vector<std::string>& expressions) {
  std::string out;
  for (size_t i = 0; i < expressions.size(); ++i) {
    out += (i > 0 ? ", " : "") + expressions[i] + " as c" + std::to_string(i + 1);
  }
  return out;
}

std::string numbers_to(size_t count) {
  std::string out;
  for (size_t i = 1; i <= count; ++i) out += (i > 1 ? ", " : "") + std::to_string(i);
  return out;
}

}  // namespace

// ---- queries

Query RandomQueries::query(int depth) {
  switch (below(12)) {
    case 0:
    case 1:
    case 2: return plain(depth);
    case 3:
    case 4:
    case 5:
    case 6: return grouped(depth);
    case 7: return distinct(depth);
    case 8: return united(depth);
    case 9: return first(depth);
    case 10: return first_of_each(depth);
    default: return numbered(depth);
  }
}

Query RandomQueries::plain(int depth) {
  const Source source = any(depth);
  Query out;
  std::vector<std::string> targets;
  for (uint64_t i = 0, n = 1 + below(4); i < n; ++i) {
    if (random_.chance(0.6)) {
      const QueryColumn& picked = source.columns[below(source.columns.size())];
      targets.push_back(picked.name);
      add(out, picked.kind);
    } else {
      const Kind kind = any_kind();
      targets.push_back(expression(source, kind, 2));
      add(out, kind);
    }
  }
  out.sql = "select " + list(targets) + " from " + source.from + where(source);
  return out;
}

Query RandomQueries::grouped(int depth) {
  const Source source = any(depth);
  Query out;
  std::vector<std::string> targets;
  const uint64_t groups = random_.chance(0.15) ? 0 : 1 + below(2);
  for (uint64_t i = 0; i < groups; ++i) {
    const Kind kind = any_kind();
    const QueryColumn* plain_column = random_.chance(0.7) ? column(source, kind) : nullptr;
    // A constant group would be read as the number of a column.
    targets.push_back(plain_column != nullptr
                          ? plain_column->name
                          : "coalesce(" + expression(source, kind, 1) + ", " + literal(kind) + ")");
    add(out, kind);
  }
  for (uint64_t i = 0, n = 1 + below(4); i < n; ++i) {
    Kind kind = Kind::BigInt;
    targets.push_back(aggregate(source, kind));
    add(out, kind);
  }
  out.sql = "select " + list(targets) + " from " + source.from + where(source);
  if (groups > 0) out.sql += " group by " + numbers_to(groups);
  if (random_.chance(0.25)) out.sql += " having " + having(source);
  return out;
}

Query RandomQueries::distinct(int depth) {
  Query out = plain(depth);
  out.sql = "select distinct" + out.sql.substr(6);
  return out;
}

Query RandomQueries::united(int depth) {
  Query out;
  for (uint64_t i = 0, n = 1 + below(3); i < n; ++i) add(out, any_kind());
  const std::string word = random_.chance(0.7) ? " union all " : " union ";
  for (uint64_t branch = 0, n = 2 + below(2); branch < n; ++branch) {
    const Source source = any(depth);
    std::vector<std::string> targets;
    for (const QueryColumn& wanted : out.columns) targets.push_back(expression(source, wanted.kind, 1));
    out.sql += (branch > 0 ? word : "") + "select " + list(targets) + " from " + source.from + where(source);
  }
  return out;
}

// Ordered by all columns: which of several equal rows is kept shows nowhere.
Query RandomQueries::first(int depth) {
  Query out = plain(depth);
  std::string order;
  for (size_t i = 0; i < out.columns.size(); ++i) {
    order += (i > 0 ? ", " : "") + std::to_string(i + 1) + (random_.chance(0.4) ? " desc" : "");
  }
  out.sql += " order by " + order + " limit " + std::to_string(1 + below(4));
  return out;
}

Query RandomQueries::first_of_each(int depth) {
  const Query inner = plain(depth);
  Query out;
  out.columns = inner.columns;
  const std::string name = alias();
  std::string order = name + ".c1";
  for (size_t i = 2; i <= inner.columns.size(); ++i) {
    order += ", " + name + ".c" + std::to_string(i) + (random_.chance(0.5) ? " desc" : "");
  }
  out.sql = "select distinct on (" + name + ".c1) * from (" + inner.sql + ") " + name + " order by " + order;
  return out;
}

Query RandomQueries::numbered(int depth) {
  const Query inner = plain(depth);
  Query out;
  out.columns = inner.columns;
  const std::string name = alias(), outer = alias();
  std::string columns, all, order;
  for (size_t i = 0; i < inner.columns.size(); ++i) {
    const std::string column_name = inner.columns[i].name;
    columns += (i > 0 ? ", " : "") + outer + "." + column_name;
    order += (i > 0 ? ", " : "") + name + "." + column_name + (random_.chance(0.5) ? " desc" : "");
  }
  out.sql = "select " + columns + " from (select " + name + ".*, row_number() over (partition by " + name +
            ".c1 order by " + order + ") as rn from (" + inner.sql + ") " + name + ") " + outer +
            " where rn <= " + std::to_string(1 + below(3));
  return out;
}

// ---- FROM

RandomQueries::Source RandomQueries::one(int depth) {
  Source out;
  const std::string name = alias();
  std::vector<QueryColumn> columns;
  if (depth > 0 && random_.chance(0.3)) {
    const Query inner = query(depth - 1);
    out.from = "(" + inner.sql + ") " + name;
    columns = inner.columns;
  } else {
    const NamedRelation& relation = relations_[below(relations_.size())];
    out.from = relation.name + " " + name;
    columns = relation.columns;
  }
  for (const QueryColumn& column : columns) out.columns.push_back({name + "." + column.name, column.kind});
  return out;
}

RandomQueries::Source RandomQueries::any(int depth) {
  Source out = random_.chance(0.35) ? joined(depth) : one(depth);
  if (random_.chance(0.12)) add_words(out);
  return out;
}

void RandomQueries::add_words(Source& source) {
  if (column(source, Kind::Text) == nullptr) return;
  constexpr const char* kPatterns[] = {"\\s+", "[^a-b]", "[AB]+", "a", "\\W+"};
  const std::string text = expression(source, Kind::Text, 1), name = alias();
  switch (below(3)) {
    case 0: source.from += " cross join unnest(string_to_array(" + text + ", 'a')) " + name; break;
    case 1: source.from += " cross join lateral string_to_table(" + text + ", 'b') " + name; break;
    default:
      source.from += " cross join regexp_split_to_table(" + text + ", '" + kPatterns[below(5)] + "') " + name;
  }
  source.columns.push_back({name + "." + name, Kind::Text});
}

// Some equality between the two; nothing if they have no type in common.
std::string RandomQueries::equality(const Source& left, const Source& right) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const QueryColumn& a = left.columns[below(left.columns.size())];
    const QueryColumn* b = column(right, a.kind);
    if (b == nullptr) continue;
    if (a.kind == Kind::Integer && random_.chance(0.2)) return a.name + " + 1 = abs(" + b->name + ")";
    if (a.kind == Kind::Text && random_.chance(0.2)) return "upper(" + a.name + ") = upper(" + b->name + ")";
    return a.name + " = " + b->name;
  }
  return "";
}

RandomQueries::Source RandomQueries::joined(int depth) {
  Source out = one(depth);
  for (uint64_t i = 0, n = 1 + below(2); i < n; ++i) {
    const Source right = one(depth);
    std::string on = equality(out, right);
    if (on.empty()) continue;
    if (random_.chance(0.15)) {
      if (std::string more = equality(out, right); !more.empty()) on += " and " + more;
    }
    Source both = out;
    both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
    if (random_.chance(0.35)) on += " and " + condition(both, 1);
    out.from += (random_.chance(0.4) ? " left join " : " join ") + right.from + " on " + on;
    out.columns = std::move(both.columns);
  }
  return out;
}

std::string RandomQueries::where(const Source& source) {
  return random_.chance(0.45) ? " where " + condition(source, 2) : "";
}

// ---- aggregates

std::string RandomQueries::aggregate(const Source& source, Kind& kind) {
  const std::string filter = random_.chance(0.2) ? " filter (where " + condition(source, 1) + ")" : "";
  const Kind of = any_kind();
  kind = Kind::BigInt;
  switch (below(8)) {
    case 0: return "count(*)" + filter;
    case 1: return "count(" + expression(source, of, 1) + ")" + filter;
    case 2: return "count(distinct " + expression(source, of, 1) + ")" + filter;
    case 3:
    case 4: {
      const bool small = random_.chance(0.5);
      if (const QueryColumn* average = column(source, Kind::Average); average != nullptr && !small) {
        kind = Kind::Average;
        return "sum(" + average->name + ")" + filter;
      }
      kind = small ? Kind::BigInt : Kind::Numeric;
      return "sum(" + expression(source, small ? Kind::Integer : Kind::Numeric, 1) + ")" + filter;
    }
    case 5:
      kind = Kind::Average;
      return "avg(" + expression(source, random_.chance(0.5) ? Kind::Integer : Kind::Numeric, 1) + ")" +
             filter;
    case 6:
      kind = Kind::Boolean;
      return std::string(random_.chance(0.5) ? "bool_and(" : "bool_or(") + condition(source, 1) + ")" +
             filter;
    default:
      kind = of == Kind::Boolean ? Kind::Text : of;
      return std::string(random_.chance(0.5) ? "min(" : "max(") + expression(source, kind, 1) + ")" + filter;
  }
}

std::string RandomQueries::having(const Source& source) {
  switch (below(3)) {
    case 0: return "count(*) > " + std::to_string(below(3));
    case 1: return "sum(" + expression(source, Kind::Integer, 1) + ") > " + std::to_string(below(10));
    default: return "max(" + expression(source, Kind::Text, 0) + ") is not null";
  }
}

// ---- expressions

Kind RandomQueries::any_kind() {
  constexpr Kind kKinds[] = {Kind::Integer, Kind::Integer, Kind::BigInt,  Kind::Numeric,
                             Kind::Text,    Kind::Text,    Kind::Boolean, Kind::Date};
  return kKinds[below(std::size(kKinds))];
}

const QueryColumn* RandomQueries::column(const Source& source, Kind kind) {
  std::vector<const QueryColumn*> fitting;
  for (const QueryColumn& one : source.columns) {
    if (one.kind == kind) fitting.push_back(&one);
  }
  return fitting.empty() ? nullptr : fitting[below(fitting.size())];
}

std::string RandomQueries::literal(Kind kind) {
  const std::string small = std::to_string(random_.between(-2, 9));
  switch (kind) {
    case Kind::Integer: return "(" + small + ")";
    case Kind::BigInt: return "(" + small + ")::bigint";
    case Kind::Numeric:
    case Kind::Average: return "(" + small + ".25)";
    case Kind::Text:
      return std::string("'") + "abAB"[below(4)] + (random_.chance(0.3) ? "b'" : "'") + "::text";
    case Kind::Boolean: return random_.chance(0.5) ? "true" : "false";
    case Kind::Date: return "'2024-02-2" + std::to_string(below(10)) + "'::date";
  }
  TM_UNREACHABLE();
}

std::string RandomQueries::number(const Source& source, Kind kind, int depth) {
  const std::string a = expression(source, kind, depth), b = expression(source, kind, depth);
  switch (below(6)) {
    case 0: return "(" + a + " + " + b + ")";
    case 1: return "(" + a + " - " + b + ")";
    case 2: return "abs(" + a + ")";
    case 3: return "greatest(" + a + ", " + b + ")";
    case 4: return "(" + a + " % 3)";
    default: return kind == Kind::Numeric ? "round(" + a + ", 1)" : "nullif(" + a + ", " + b + ")";
  }
}

std::string RandomQueries::expression(const Source& source, Kind kind, int depth) {
  if (depth == 0 || random_.chance(0.5)) {
    const QueryColumn* found = column(source, kind);
    if (found != nullptr) return found->name;
    if (kind == Kind::Numeric && column(source, Kind::Integer) != nullptr) {
      return column(source, Kind::Integer)->name + "::numeric";
    }
    if (kind == Kind::BigInt && column(source, Kind::Integer) != nullptr) {
      return column(source, Kind::Integer)->name + "::bigint";
    }
    if (depth == 0) return literal(kind);
  }
  auto of = [&](Kind wanted) { return expression(source, wanted, depth - 1); };
  if (random_.chance(0.2)) return "coalesce(" + of(kind) + ", " + of(kind) + ")";
  if (random_.chance(0.2)) {
    return "case when " + condition(source, depth - 1) + " then " + of(kind) + " else " + of(kind) + " end";
  }
  switch (kind) {
    case Kind::Integer:
      if (random_.chance(0.2)) return "length(" + of(Kind::Text) + ")";
      return number(source, kind, depth - 1);
    case Kind::BigInt:
    case Kind::Numeric: return number(source, kind, depth - 1);
    case Kind::Average: return of(kind);
    case Kind::Text:
      switch (below(4)) {
        case 0: return "upper(" + of(kind) + ")";
        case 1: return "(" + of(kind) + " || " + of(kind) + ")";
        case 2: return of(Kind::Integer) + "::text";
        default: return "substr(" + of(kind) + ", 1, 1)";
      }
    case Kind::Boolean: return "(" + condition(source, depth - 1) + ")";
    case Kind::Date: return "(" + of(kind) + " + " + std::to_string(below(3)) + ")";
  }
  TM_UNREACHABLE();
}

std::string RandomQueries::condition(const Source& source, int depth) {
  if (depth > 0 && random_.chance(0.4)) {
    const std::string a = condition(source, depth - 1), b = condition(source, depth - 1);
    switch (below(4)) {
      case 0: return "(" + a + " or " + b + ")";
      case 1: return "not (" + a + ")";
      default: return "(" + a + " and " + b + ")";
    }
  }
  const Kind kind = any_kind();
  auto of = [&](int deep) { return expression(source, kind, deep); };
  constexpr const char* kOperators[] = {" = ", " <> ", " < ", " <= ", " > ", " >= "};
  switch (below(7)) {
    case 0: return of(1) + (random_.chance(0.5) ? " is null" : " is not null");
    case 1: return of(1) + " in (" + literal(kind) + ", " + literal(kind) + ")";
    case 2: return of(0) + " between " + literal(kind) + " and " + literal(kind);
    case 3: return of(1) + " is distinct from " + of(0);
    case 4: return of(0) + " = " + literal(kind);
    default: return of(1) + kOperators[below(6)] + of(0);
  }
}

}  // namespace tidemark::views
