#include "sql/plan/stored_table.h"

#include <algorithm>

#include "sql/plan/expressions.h"
#include "sql/table/table_codec.h"

namespace tidemark::sql {

Result<StoredTablePtr> stored_table(const pb::TableDefinition& definition) {
  auto out = std::make_shared<StoredTable>();
  out->definition = definition;
  for (int i = 0; i < definition.columns_size(); ++i) {
    Result<SqlType> type = parse_type_name(definition.columns(i).type());
    if (!type.ok()) return type.error();
    out->read.columns.push_back({definition.columns(i).name(), *type});
    out->read.expressions.push_back(make_column(i, *type));
  }
  return StoredTablePtr(out);
}

StoredTablePtr stored_view(const ViewPlan& plan) {
  auto out = std::make_shared<StoredTable>();
  out->definition = plan.tables.front();
  out->read = clone(plan.read);
  return out;
}

TableSchemaPtr schema_of(const StoredTable& table) {
  auto out = std::make_shared<TableSchema>();
  const pb::TableDefinition& definition = table.definition;
  out->id = TableId{definition.id()};
  out->name = definition.name();
  out->kind = definition.kind() == pb::MANAGED    ? SchemaKind::Managed
              : definition.kind() == pb::EXTERNAL ? SchemaKind::External
                                                  : SchemaKind::View;
  for (const ReadPlan::Column& column : table.read.columns) {
    SchemaColumn& schema = out->columns.emplace_back();
    schema.name = column.name;
    schema.type = column.type;
  }
  auto visible = [&](uint32_t stored) {
    for (size_t i = 0; i < table.read.expressions.size(); ++i) {
      const Expression& expression = *table.read.expressions[i];
      if (expression.kind == ExpressionKind::Column && expression.index == static_cast<int>(stored)) {
        return static_cast<int>(i);
      }
    }
    return -1;
  };
  std::vector<int> distribution;
  for (uint32_t column : definition.distribution()) distribution.push_back(visible(column));
  if (std::find(distribution.begin(), distribution.end(), -1) != distribution.end()) return out;
  out->distribution = std::move(distribution);
  for (int i = 0; i < definition.clustering_size(); ++i) {
    int column = visible(definition.clustering(i));
    if (column < 0) break;
    const bool descending =
        i < definition.clustering_descending_size() && definition.clustering_descending(i);
    out->clustering.push_back({column, descending ? SortOrder::Descending : SortOrder::Ascending});
  }
  return out;
}

ReadPlan clone(const ReadPlan& read) {
  ReadPlan out;
  out.columns = read.columns;
  out.expressions = clone_all(read.expressions);
  if (read.visible) out.visible = clone(*read.visible);
  return out;
}

}  // namespace tidemark::sql
