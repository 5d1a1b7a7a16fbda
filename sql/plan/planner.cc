#include "sql/plan/planner.h"

#include <algorithm>

#include "base/assert.h"
#include "sql/expr/program.h"
#include "sql/plan/expressions.h"
#include "sql/plan/row_growth.h"
#include "sql/plan/view_planner.h"
#include "sql/table/table_codec.h"

namespace tidemark::sql {

namespace {

// Rows are at most as long as a record, two in a join: so many copies fit the memory of a row's expressions.
constexpr size_t kCopiesMax = 32;
static_assert(kCopiesMax * 2 * 1'000'000 < kRunBytesMax);

bool flow_may_fail(const FlowPlan& flow) {
  size_t copies = 0;
  auto fails = [&](const ExpressionPtr& expression) {
    if (!expression) return false;
    copies += count_copies(*expression);
    return copies > kCopiesMax || may_fail(*expression);
  };
  auto any = [&](const std::vector<ExpressionPtr>& all) {
    return std::any_of(all.begin(), all.end(), fails);
  };
  if (fails(flow.split.text) || fails(flow.split.delimiter)) return true;
  if (fails(flow.filter) || any(flow.sink.columns)) return true;
  for (const SumColumn& sum : flow.sink.sums) {
    // A sum of numerics may meet NaN or infinity, which can not be taken back.
    if (fails(sum.arg) || fails(sum.filter) || sum.kind == SumColumn::Kind::Sum) return true;
  }
  return std::any_of(flow.sink.value_sets.begin(), flow.sink.value_sets.end(),
                     [&](const ValueSet& set) { return fails(set.arg) || fails(set.filter); });
}

}  // namespace

Result<ViewPlan, SqlError> plan_view(const Relation& query, const PlanOptions& options) {
  return ViewPlanner(options).plan(query);
}

SqlError ViewPlanner::refuse(std::string message, std::string hint, int location) {
  return {sqlstate::kFeatureNotSupported, std::move(message), location + 1, {}, std::move(hint)};
}

Result<ViewPlan, SqlError> ViewPlanner::plan(const Relation& query) {
  if (volatility_of(query) != Volatility::Immutable) {
    return refuse("a materialized view can not use functions whose result changes by itself",
                  "Compute the value when rows are written, and store it in a column.");
  }
  for (const RelationColumn& column : query.columns) {
    if (column.type.kind == TypeKind::Interval || column.type.kind == TypeKind::Unknown) {
      return refuse("column \"" + column.name + "\" of a materialized view can not be of type " +
                        type_name(column.type),
                    "Cast it to a type that a table can have.");
    }
  }
  const TableId view = take_id();
  TM_SQL_ASSIGN(Kept kept, keep(query, Needed(query.columns.size(), true), view, pb::VIEW));
  plan_.read = std::move(kept.read);
  add_error_set();
  for (auto& [id, definition] : tables_) {
    if (id == view.value) {
      definition.set_name(options_.name);
      definition.set_sql(options_.sql);
    } else {
      definition.set_view(view.value);
    }
    plan_.tables.push_back(std::move(definition));
  }
  note_sources();
  return std::move(plan_);
}

// What regions and the coordinator need to know: whose changes a table is made from; for the view also those
// of its auxiliary tables.
void ViewPlanner::note_sources() {
  const uint32_t view = plan_.tables.front().id();
  auto note = [&](uint32_t table, uint32_t source) {
    pb::TableDefinition& definition = plan_.tables[table - view];
    const auto& known = definition.sources();
    if (std::find(known.begin(), known.end(), source) == known.end()) definition.add_sources(source);
  };
  for (const FlowPlan& flow : plan_.flows) {
    if (flow.source == FlowSource::Join) {
      note(flow.sink.table.value, flow.left.value);
      note(flow.sink.table.value, flow.right.value);
      continue;
    }
    note(flow.sink.table.value, flow.table.value);
    if (!tables_.contains(flow.table.value)) note(view, flow.table.value);
  }
}

void ViewPlanner::add_table(TableBuilder& table) {
  const uint32_t id = table.definition().id();
  tables_[id] = std::move(table.definition());
}

void ViewPlanner::add_flow(Stream stream, SinkPlan sink) {
  FlowPlan flow;
  flow.source = stream.source;
  flow.table = stream.table;
  flow.left = stream.left;
  flow.right = stream.right;
  flow.outer = stream.outer;
  flow.split = std::move(stream.split);
  flow.filter = std::move(stream.filter);
  flow.identity = std::move(stream.identity);
  flow.sink = std::move(sink);
  flow.number = static_cast<uint32_t>(plan_.flows.size());
  plan_.flows.push_back(std::move(flow));
}

// Rows whose expressions failed, or that were too large, until they are gone or changed.
void ViewPlanner::add_error_set() {
  auto outgrows = [&](const FlowPlan& flow) {
    StoredTablePtr table = flow.source == FlowSource::Table ? options_.find_table(flow.table) : nullptr;
    const bool is_table = table && table->definition.kind() == pb::MANAGED;
    return may_outgrow(flow, is_table ? SourceRows::OfTable : SourceRows::OfView);
  };
  if (std::none_of(plan_.flows.begin(), plan_.flows.end(),
                   [&](const FlowPlan& flow) { return flow_may_fail(flow) || outgrows(flow); }))
    return;
  plan_.errors = take_id();
  TableBuilder table(plan_.errors, pb::AUXILIARY, pb::PUT);
  table.distribute(table.add("flow", SqlType::of(TypeKind::Integer), nullptr, true));
  table.distribute(table.add("row", SqlType::of(TypeKind::Bytea), nullptr, true));
  table.add("sqlstate", SqlType::of(TypeKind::Text), nullptr, true);
  table.add("message", SqlType::of(TypeKind::Text), nullptr, true);
  add_table(table);
}

// ---- streams

ViewPlanner::BoundStreams ViewPlanner::streams_of(const Relation& relation, const Needed& needed) {
  switch (relation.kind) {
    case RelationKind::Scan: return scan(relation, needed);
    case RelationKind::Filter: return filter(relation, needed);
    case RelationKind::Project: return project(relation, needed);
    case RelationKind::Join: return join(relation, needed);
    case RelationKind::UnionAll: return union_all(relation, needed);
    case RelationKind::Sort: return streams_of(*relation.inputs[0], needed);  // A view has no order.
    case RelationKind::Apply:
      return refuse("a subquery in an expression is not kept by materialized views", "Write a join in FROM.");
    case RelationKind::Expand: return split(relation, needed);
    case RelationKind::Values:
      return refuse("a materialized view needs a table to follow", "Select from a table or another view.");
    case RelationKind::Aggregate:
    case RelationKind::Distinct:
    case RelationKind::Limit:
    case RelationKind::TopK: {
      TM_SQL_ASSIGN(Stream stream, keep_aside(relation, needed));
      Streams out;
      out.push_back(std::move(stream));
      return out;
    }
  }
  TM_UNREACHABLE();
}

ViewPlanner::BoundStreams ViewPlanner::scan(const Relation& relation, const Needed& needed) {
  StoredTablePtr table = options_.find_table(relation.table->id);
  if (!table) return refuse("\"" + relation.table->name + "\" can not be followed by a materialized view");
  Stream stream;
  stream.table = relation.table->id;
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    stream.columns.push_back(needed[i] ? clone(*table->read.expressions[i]) : nullptr);
  }
  if (table->read.visible) stream.filter = clone(*table->read.visible);
  const pb::TableDefinition& definition = table->definition;
  auto stored = [&](uint32_t column) {
    auto type = parse_type_name(definition.columns(static_cast<int>(column)).type());
    TM_ASSERT(type.ok());
    return make_column(static_cast<int>(column), *type);
  };
  for (uint32_t column : definition.distribution()) stream.identity.push_back(stored(column));
  stream.identity_distribution = stream.identity.size();
  for (uint32_t column : definition.clustering()) stream.identity.push_back(stored(column));
  Streams out;
  out.push_back(std::move(stream));
  return out;
}

ViewPlanner::BoundStreams ViewPlanner::project(const Relation& relation, const Needed& needed) {
  Needed below(relation.inputs[0]->columns.size(), false);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    for_each_column(std::as_const(*relation.expressions[i]),
                    [&](int column) { below[static_cast<size_t>(column)] = true; });
  }
  TM_SQL_ASSIGN(Streams streams, streams_of(*relation.inputs[0], below));
  for (Stream& stream : streams) {
    std::vector<ExpressionPtr> columns;
    for (size_t i = 0; i < needed.size(); ++i) {
      columns.push_back(needed[i] ? substitute(*relation.expressions[i], stream.columns) : nullptr);
    }
    stream.columns = std::move(columns);
  }
  return streams;
}

ViewPlanner::BoundStreams ViewPlanner::filter(const Relation& relation, const Needed& needed) {
  Needed below = needed;
  ExpressionPtr condition = without_rank_bound(*relation.condition, *relation.inputs[0]);
  if (!condition) return streams_of(*relation.inputs[0], needed);
  for_each_column(std::as_const(*condition), [&](int column) { below[static_cast<size_t>(column)] = true; });
  TM_SQL_ASSIGN(Streams streams, streams_of(*relation.inputs[0], below));
  for (Stream& stream : streams) {
    stream.filter = both(std::move(stream.filter), substitute(*condition, stream.columns));
  }
  return streams;
}

// A row per word: found by the word, and told from others by the row that has it.
ViewPlanner::BoundStreams ViewPlanner::split(const Relation& relation, const Needed& needed) {
  const std::optional<SplitKind> kind = split_kind_of(relation.set_function);
  if (!kind) {
    return refuse("this function of several rows is not kept by materialized views",
                  "Those that are: string_to_table, unnest(string_to_array(...)), regexp_split_to_table.");
  }
  Needed below(needed.begin(), needed.end() - 1);
  for (const ExpressionPtr& expression : relation.expressions) {
    for_each_column(std::as_const(*expression),
                    [&](int column) { below[static_cast<size_t>(column)] = true; });
  }
  TM_SQL_ASSIGN(Stream stream, simple_stream(*relation.inputs[0], below));
  stream.split.kind = *kind;
  stream.split.text = substitute(*relation.expressions[0], stream.columns);
  stream.split.delimiter = substitute(*relation.expressions[1], stream.columns);
  const int width = stored_width(stream.table);
  const ExpressionPtr word = make_column(width, SqlType::of(TypeKind::Text));
  stream.columns.push_back(needed.back() ? clone(*word) : nullptr);
  stream.identity.insert(stream.identity.begin(), clone(*word));
  stream.identity.push_back(make_column(width + 1, SqlType::of(TypeKind::Integer)));
  stream.identity_distribution = 1;
  Streams out;
  out.push_back(std::move(stream));
  return out;
}

int ViewPlanner::stored_width(TableId table) const {
  auto own = tables_.find(table.value);
  if (own != tables_.end()) return own->second.columns_size();
  return options_.find_table(table)->definition.columns_size();
}

ViewPlanner::BoundStreams ViewPlanner::union_all(const Relation& relation, const Needed& needed) {
  Streams out;
  for (const RelationPtr& input : relation.inputs) {
    TM_SQL_ASSIGN(Streams streams, streams_of(*input, needed));
    for (Stream& stream : streams) out.push_back(std::move(stream));
  }
  return out;
}

// ---- tables that keep rows

ViewPlanner::BoundKept ViewPlanner::keep(const Relation& relation, const Needed& needed, TableId id,
                                         pb::TableKind kind) {
  // A view that is to lie by other columns than what identifies its rows gets them from an auxiliary table.
  if (kind == pb::VIEW && !(options_.distribute_by.empty() && options_.cluster_by.empty())) {
    TM_SQL_ASSIGN(Streams streams, streams_of(relation, needed));
    return keep_rows(std::move(streams), relation, needed, id, kind);
  }
  switch (relation.kind) {
    case RelationKind::Aggregate: return keep_aggregate(relation, needed, id, kind);
    case RelationKind::Distinct: return keep_distinct(relation, id, kind);
    case RelationKind::TopK: return keep_top(relation, needed, id, kind);
    case RelationKind::Limit: return keep_limit(relation, needed, id, kind);
    case RelationKind::Sort: return keep(*relation.inputs[0], needed, id, kind);
    default: break;
  }
  // What stands above an aggregation is computed on read: HAVING hides rows, the select list makes columns.
  const Relation* inner = &relation;
  while (inner->kind == RelationKind::Project || inner->kind == RelationKind::Filter) {
    inner = inner->inputs[0].get();
  }
  const bool on_read = inner->kind == RelationKind::Aggregate || inner->kind == RelationKind::TopK ||
                       inner->kind == RelationKind::Limit;
  if (!on_read) {
    TM_SQL_ASSIGN(Streams streams, streams_of(relation, needed));
    return keep_rows(std::move(streams), relation, needed, id, kind);
  }
  const Relation& input = *relation.inputs[0];
  Needed below(input.columns.size(), false);
  auto use = [&](const Expression& expression) {
    for_each_column(expression, [&](int column) { below[static_cast<size_t>(column)] = true; });
  };
  ExpressionPtr condition;
  if (relation.kind == RelationKind::Filter) {
    below = needed;
    condition = without_rank_bound(*relation.condition, input);
    if (condition) use(*condition);
  } else {
    for (size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) use(*relation.expressions[i]);
    }
  }
  TM_SQL_ASSIGN(Kept kept, keep(input, below, id, kind));
  if (relation.kind == RelationKind::Filter) {
    if (condition) {
      kept.read.visible = both(std::move(kept.read.visible), substitute(*condition, kept.read.expressions));
    }
    return kept;
  }
  ReadPlan read;
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    read.columns.push_back({relation.columns[i].name, relation.columns[i].type});
    read.expressions.push_back(needed[i] ? substitute(*relation.expressions[i], kept.read.expressions)
                                         : nullptr);
  }
  read.visible = std::move(kept.read.visible);
  kept.read = std::move(read);
  return kept;
}

Stream ViewPlanner::stream_of(const Kept& kept) {
  const pb::TableDefinition& definition = tables_.at(kept.id.value);
  Stream stream;
  stream.table = kept.id;
  for (const ExpressionPtr& expression : kept.read.expressions) {
    stream.columns.push_back(expression ? clone(*expression) : nullptr);
  }
  if (kept.read.visible) stream.filter = clone(*kept.read.visible);
  auto stored = [&](uint32_t column) {
    auto type = parse_type_name(definition.columns(static_cast<int>(column)).type());
    TM_ASSERT(type.ok());
    return make_column(static_cast<int>(column), *type);
  };
  for (uint32_t column : definition.distribution()) stream.identity.push_back(stored(column));
  stream.identity_distribution = stream.identity.size();
  for (uint32_t column : definition.clustering()) stream.identity.push_back(stored(column));
  return stream;
}

Result<Stream, SqlError> ViewPlanner::keep_aside(const Relation& relation, const Needed& needed) {
  const TableId id = take_id();
  TM_SQL_ASSIGN(Kept kept, keep(relation, needed, id, pb::AUXILIARY));
  return stream_of(kept);
}

Result<Stream, SqlError> ViewPlanner::simple_stream(const Relation& relation, const Needed& needed) {
  TM_SQL_ASSIGN(Streams streams, streams_of(relation, needed));
  const bool simple = streams.size() == 1 && streams[0].source == FlowSource::Table && !streams[0].split.text;
  if (simple) return std::move(streams[0]);
  TM_SQL_ASSIGN(Kept kept, keep_rows(std::move(streams), relation, needed, take_id(), pb::AUXILIARY));
  return stream_of(kept);
}

// Rows as they come, keyed by what identifies them (PTO3: a row that is put has one source lane).
ViewPlanner::BoundKept ViewPlanner::keep_rows(Streams streams, const Relation& relation, const Needed& needed,
                                              TableId id, pb::TableKind kind) {
  TableBuilder table(id, kind, pb::PUT);
  const bool is_union = streams.size() > 1;
  int branch_column = -1, row_column = -1;
  if (is_union) {
    branch_column = table.add("branch", SqlType::of(TypeKind::Integer), nullptr, true);
    row_column = table.add("row", SqlType::of(TypeKind::Bytea), nullptr, true);
  }
  Kept kept{id, {}};
  std::vector<int> places;
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    const RelationColumn& column = relation.columns[i];
    kept.read.columns.push_back({column.name, column.type});
    places.push_back(-1);
    if (needed[i]) {
      ExpressionPtr expression = is_union ? nullptr : clone(*streams[0].columns[i]);
      places.back() = table.add(column.name, column.type, std::move(expression), false);
    }
    kept.read.expressions.push_back(needed[i] ? make_column(places.back(), column.type) : nullptr);
  }
  if (kind == pb::VIEW) {
    for (int column : options_.distribute_by) table.distribute(places[static_cast<size_t>(column)]);
    for (const ClusteringColumn& column : options_.cluster_by) {
      table.cluster(places[static_cast<size_t>(column.column)], column.order == SortOrder::Descending);
    }
  }
  const bool redistributed = table.definition().distribution_size() > 0;
  auto add_key = [&](int column, bool distributes) {
    if (table.in_key(column)) return;
    if (distributes && !redistributed) {
      table.distribute(column);
    } else {
      table.cluster(column);
    }
  };
  if (is_union) {
    add_key(branch_column, true);
    add_key(row_column, true);
  } else {
    for (size_t i = 0; i < streams[0].identity.size(); ++i) {
      int column = table.find_or_add("key" + std::to_string(i + 1), *streams[0].identity[i]);
      add_key(column, i < streams[0].identity_distribution);
    }
  }
  std::vector<ExpressionPtr> expressions = table.take_expressions();
  add_table(table);
  for (size_t s = 0; s < streams.size(); ++s) {
    SinkPlan sink;
    sink.kind = SinkKind::Put;
    sink.table = id;
    if (is_union) {
      sink.identity_first = true;
      sink.branch = static_cast<int32_t>(s);
      sink.columns.resize(2);
      for (size_t i = 0; i < needed.size(); ++i) {
        if (needed[i]) sink.columns.push_back(clone(*streams[s].columns[i]));
      }
    } else {
      sink.columns = std::move(expressions);
    }
    add_flow(std::move(streams[s]), std::move(sink));
  }
  return kept;
}

}  // namespace tidemark::sql
