#include "sql/session/explain.h"

#include <map>

#include "sql/expr/expression.h"

namespace tidemark::sql {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string plural(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void add_reads(const Relation& relation, std::vector<std::string>& out) {
  if (relation.kind == RelationKind::Scan) {
    const TableSchema& table = *relation.table;
    const size_t known = relation.key_prefix.size();
    std::string line = "Reads " + table.name + ": ";
    if (table.kind == SchemaKind::Virtual) {
      line += "made from the catalog";
    } else if (table.distribution.empty() || known < table.distribution.size()) {
      line += "all regions, page by page";
    } else if (known == table.key_columns().size()) {
      line += "one row of one region";
    } else {
      line += "the rows under one key of one region";
    }
    out.push_back(std::move(line));
  }
  for (const RelationPtr& input : relation.inputs) add_reads(*input, out);
}

class ViewExplanation {
 public:
  ViewExplanation(const ViewPlan& plan, const CatalogSnapshot& catalog) : plan_(plan), catalog_(catalog) {}

  std::vector<std::string> lines() {
    for (const pb::TableDefinition& table : plan_.tables) add_table(table);
    for (const FlowPlan& flow : plan_.flows) add_flow(flow);
    add_costs();
    if (plan_.errors.value != 0)
      out_.push_back("Rows that can not be computed are kept apart; reads report them.");
    return std::move(out_);
  }

 private:
  const pb::TableDefinition* own(TableId id) const {
    for (const pb::TableDefinition& table : plan_.tables) {
      if (table.id() == id.value) return &table;
    }
    return nullptr;
  }

  std::string name_of(TableId id) const {
    const pb::TableDefinition* table = own(id);
    if (table == nullptr) {
      const CatalogTablePtr known = catalog_.table(id);
      return known ? known->definition.name() : "table " + std::to_string(id.value);
    }
    if (!table->name().empty()) return table->name();
    return "auxiliary table " + std::to_string(id.value - plan_.tables.front().id());
  }

  static std::string columns_of(const pb::TableDefinition& table,
                                const google::protobuf::RepeatedField<uint32_t>& columns) {
    std::string out;
    for (uint32_t column : columns) {
      out += (out.empty() ? "" : ", ") + table.columns(static_cast<int>(column)).name();
    }
    return out;
  }

  static const char* rule_of(const pb::TableDefinition& table) {
    switch (table.row_rule()) {
      case pb::PUT: return "a row per input row";
      case pb::SUM: return "counts and sums per group";
      case pb::MULTISET: return "values with their counts, in order";
      case pb::JOIN_SIDE: return "one side of a join";
      case pb::TOP: return "the first rows per group";
      default: return "rows";
    }
  }

  void add_table(const pb::TableDefinition& table) {
    const TableId id{table.id()};
    if (id == plan_.errors) return;
    std::string line = (table.kind() == pb::VIEW ? "View " : "Keeps ") + name_of(id) + ": " + rule_of(table);
    out_.push_back(std::move(line));
    std::string place = "  lives by ";
    place += table.distribution().empty() ? "one place: it has one row"
                                          : "the hash of (" + columns_of(table, table.distribution()) + ")";
    if (!table.clustering().empty()) place += ", sorted by (" + columns_of(table, table.clustering()) + ")";
    out_.push_back(std::move(place));
  }

  std::vector<std::string> input_names(const FlowPlan& flow) const {
    std::vector<std::string> out;
    auto add = [&](TableId id) {
      const pb::TableDefinition* table = own(id);
      const CatalogTablePtr known = table ? nullptr : catalog_.table(id);
      if (table == nullptr && known) table = &known->definition;
      if (table == nullptr) return;
      for (const pb::Column& column : table->columns()) out.push_back(column.name());
    };
    if (flow.source == FlowSource::Table) {
      add(flow.table);
    } else {
      add(flow.left);
      add(flow.right);
    }
    return out;
  }

  static const char* sink_of(const SinkPlan& sink) {
    switch (sink.kind) {
      case SinkKind::Put: return "puts rows into ";
      case SinkKind::Aggregate: return "adds to ";
      case SinkKind::Multiset: return "adds values to ";
    }
    TM_UNREACHABLE();
  }

  void add_flow(const FlowPlan& flow) {
    std::string line = "Flow " + std::to_string(flow.number + 1) + ": ";
    switch (flow.source) {
      case FlowSource::Table: line += "changes of " + name_of(flow.table); break;
      case FlowSource::Join:
        line += std::string(flow.outer ? "left join" : "join") + " of " + name_of(flow.left) + " and " +
                name_of(flow.right) + ", in their region";
        break;
    }
    line += "; " + std::string(sink_of(flow.sink)) + name_of(flow.sink.table);
    for (const ValueSet& set : flow.sink.value_sets) line += " and " + name_of(set.table);
    out_.push_back(std::move(line));
    if (flow.filter) out_.push_back("  where " + describe(*flow.filter, input_names(flow)));
  }

  // Effects per change of a source, when the row stays under its key or group, and when it moves.
  void add_costs() {
    std::map<TableId, size_t> effects;
    std::map<TableId, bool> by_match;
    for (const FlowPlan& flow : plan_.flows) {
      const size_t count = 1 + flow.sink.value_sets.size();
      if (flow.source == FlowSource::Join) {
        for (TableId side : {flow.left, flow.right}) {
          effects[side] += count;
          by_match[side] = true;
        }
      } else {
        effects[flow.table] += count;
      }
    }
    for (const auto& [table, count] : effects) {
      std::string line = "A change of " + name_of(table) + " costs " + plural(count, "effect");
      line += by_match[table] ? " per match" : "";
      out_.push_back(line + ", twice that if it moves to another key or group");
    }
  }

  const ViewPlan& plan_;
  const CatalogSnapshot& catalog_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> explain_query(const Relation& query) {
  std::vector<std::string> out = lines_of(describe(query));
  add_reads(query, out);
  return out;
}

std::vector<std::string> explain_view(const ViewPlan& plan, const CatalogSnapshot& catalog) {
  return ViewExplanation(plan, catalog).lines();
}

}  // namespace tidemark::sql
