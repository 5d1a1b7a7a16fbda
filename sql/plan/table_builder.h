// Puts a table's definition together, column by column. A column that is there already (the same expression,
// in a type whose key keeps every value as it was) is not stored twice.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog.pb.h"
#include "sql/plan/view_plan.h"

namespace tidemark::sql {

class TableBuilder {
 public:
  TableBuilder(TableId id, pb::TableKind kind, pb::RowRule rule);

  // Gives the column's index. `expression` may be null: set by other means.
  int add(const std::string& name, SqlType type, ExpressionPtr expression, bool hidden);
  // A column with this expression that may serve as key and as value, or -1.
  int find(const Expression& expression) const;
  // As find(); else a new hidden column.
  int find_or_add(const std::string& name, const Expression& expression);

  void distribute(int column) { definition_.add_distribution(static_cast<uint32_t>(column)); }
  void cluster(int column, bool descending = false) {
    definition_.add_clustering(static_cast<uint32_t>(column));
    definition_.add_clustering_descending(descending);
  }
  bool in_key(int column) const;

  pb::TableDefinition& definition() { return definition_; }
  std::vector<ExpressionPtr> take_expressions() { return std::move(expressions_); }
  ExpressionPtr column(int index) const;

 private:
  pb::TableDefinition definition_;
  std::vector<ExpressionPtr> expressions_;
  std::vector<SqlType> types_;
};

}  // namespace tidemark::sql
