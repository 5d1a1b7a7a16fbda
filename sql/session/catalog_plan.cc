#include "sql/session/catalog_plan.h"

#include <algorithm>
#include <set>

#include "sql/session/errors.h"

namespace tidemark::sql {

namespace {

SqlStatus check_schema(const std::string& schema) {
  if (schema == "public") return {};
  return error(sqlstate::kFeatureNotSupported, "schema \"" + schema + "\" is not supported",
               "Tables and views are in the schema public.");
}

SqlError skipping(const std::string& name) {
  return error(sqlstate::kDuplicateTable, "relation \"" + name + "\" already exists, skipping");
}

const char* kind_name(const CatalogTable& table) {
  return table.definition.kind() == pb::VIEW ? "materialized view" : "table";
}

// The view that a table belongs to: itself, or the one it is auxiliary to.
TableId view_of(const pb::TableDefinition& definition) {
  return TableId{definition.kind() == pb::AUXILIARY ? definition.view() : definition.id()};
}

// Views made from any of `ids`, in any number of steps, in order.
std::set<TableId> dependents(const CatalogSnapshot& catalog, const std::set<TableId>& ids) {
  std::set<TableId> out;
  for (const auto& [id, table] : catalog.tables()) {  // Sources have lower ids.
    const auto& sources = table->definition.sources();
    const bool depends = std::any_of(sources.begin(), sources.end(), [&](uint32_t source) {
      const CatalogTablePtr from = catalog.table(TableId{source});
      return ids.contains(TableId{source}) || (from && out.contains(view_of(from->definition)));
    });
    const TableId view = view_of(table->definition);
    if (depends && !ids.contains(view)) out.insert(view);
  }
  return out;
}

// It has the name of another, until it is filled.
bool is_beside(const pb::TableDefinition& definition) {
  return definition.replaces() != 0 && definition.filled() == 0;
}

bool has_pace(const pb::TableDefinition& view, const pb::CatalogRequest::Pace& pace) {
  return view.has_backfill_rows_per_second() == pace.has_rows_per_second() &&
         view.backfill_rows_per_second() == pace.rows_per_second();
}

// The table, what is auxiliary to it, and what is built beside it to replace it.
void add_drop(const CatalogSnapshot& catalog, TableId id, pb::CatalogRequest& request) {
  for (const auto& [other, table] : catalog.tables()) {
    const pb::TableDefinition& definition = table->definition;
    const CatalogTablePtr view = catalog.table(view_of(definition));
    const bool replaces = view && is_beside(view->definition) && view->definition.replaces() == id.value;
    if (view_of(definition) == id || replaces) request.add_drop(other.value);
  }
}

SqlStatus refuse_dependents(const CatalogSnapshot& catalog, const CatalogTable& table,
                            const std::set<TableId>& views, const char* verb, std::string hint) {
  if (views.empty()) return {};
  SqlError out = error(sqlstate::kDependentObjects,
                       std::string("cannot ") + verb + " " + kind_name(table) + " " +
                           table.definition.name() + " because other objects depend on it",
                       std::move(hint));
  std::set<std::string> names;  // A view and what is built to replace it have one.
  for (TableId id : views) names.insert(catalog.table(id)->definition.name());
  for (const std::string& name : names) {
    if (!out.detail.empty()) out.detail += "\n";
    out.detail +=
        "materialized view " + name + " depends on " + kind_name(table) + " " + table.definition.name();
  }
  return out;
}

SqlStatus check_source(const TableSchema& source, const CatalogSnapshot& catalog) {
  if (source.kind == SchemaKind::Virtual) {
    return error(sqlstate::kFeatureNotSupported,
                 "a materialized view can not follow the system table \"" + source.name + "\"");
  }
  for (const auto& [id, table] : catalog.tables()) {
    if (table->definition.replaces() != source.id.value || !is_beside(table->definition)) continue;
    return error("55006", "materialized view \"" + source.name + "\" is being replaced",
                 "Try again when the new one is filled.");
  }
  return {};
}

}  // namespace

Result<CatalogPlan, SqlError> plan_create_table(const CreateTableStatement& create, std::string_view text,
                                                const CatalogSnapshot& catalog) {
  TM_TRY(check_schema(create.table.schema));
  CatalogPlan out;
  out.tag = "CREATE TABLE";
  if (catalog.find_table("public", create.table.name) != nullptr) {
    out.notices.push_back(skipping(create.table.name));
    return out;
  }
  out.request.set_expects_version(catalog.version());
  pb::TableDefinition& definition = *out.request.add_create();
  definition.set_id(catalog.next_id());
  definition.set_name(create.table.name);
  definition.set_kind(pb::MANAGED);
  definition.set_row_rule(pb::PUT);
  definition.set_sql(std::string(text));
  for (const SchemaColumn& column : create.table.columns) {
    pb::Column& stored = *definition.add_columns();
    stored.set_name(column.name);
    stored.set_type(type_name(column.type));
    stored.set_not_null(column.not_null);
    stored.set_hidden(column.hidden);
  }
  for (int column : create.table.distribution) definition.add_distribution(static_cast<uint32_t>(column));
  for (const ClusteringColumn& part : create.table.clustering) {
    definition.add_clustering(static_cast<uint32_t>(part.column));
    definition.add_clustering_descending(part.order == SortOrder::Descending);
  }
  return out;
}

Result<ViewPlan, SqlError> plan_view_of(std::string_view text, const CatalogSnapshot& catalog) {
  return plan_statement(text, TableId{catalog.next_id()}, catalog, [&](TableId id) -> StoredTablePtr {
    const CatalogTablePtr table = catalog.table(id);
    return table ? table->stored : nullptr;
  });
}

Result<CatalogPlan, SqlError> plan_create_view(const CreateViewStatement& create, std::string_view text,
                                               const CatalogSnapshot& catalog) {
  TM_TRY(check_schema(create.schema));
  CatalogPlan out;
  out.tag = "CREATE MATERIALIZED VIEW";
  const TableSchemaPtr present = catalog.find_table("public", create.name);
  if (present && create.if_not_exists) {
    out.notices.push_back(skipping(create.name));
    return out;
  }
  for (const TableSchemaPtr& source : create.sources) TM_TRY(check_source(*source, catalog));
  out.request.set_expects_version(catalog.version());
  if (present) {
    const CatalogTablePtr old = catalog.table(present->id);
    if (present->kind != SchemaKind::View) {
      return error(sqlstate::kWrongObjectType, "\"" + create.name + "\" is not a materialized view");
    }
    TM_TRY(refuse_dependents(catalog, *old, dependents(catalog, {present->id}), "replace",
                             "Drop the views over it first, or create the new one under another name."));
    pb::CatalogRequest all;
    add_drop(catalog, present->id, all);
    for (uint32_t id : all.drop()) {  // Only an older replacement that is not finished.
      if (view_of(catalog.table(TableId{id})->definition) != present->id) out.request.add_drop(id);
    }
  }
  TM_SQL_ASSIGN(ViewPlan plan, plan_view_of(text, catalog));
  if (present) plan.tables.front().set_replaces(present->id.value);
  if (create.backfill_rows_per_second)
    plan.tables.front().set_backfill_rows_per_second(create.backfill_rows_per_second->value);
  for (pb::TableDefinition& table : plan.tables) *out.request.add_create() = std::move(table);
  return out;
}

Result<CatalogPlan, SqlError> plan_alter_view(const AlterViewStatement& alter,
                                              const CatalogSnapshot& catalog) {
  CatalogPlan out;
  out.tag = "ALTER MATERIALIZED VIEW";
  if (alter.view == nullptr) {
    out.notices.push_back(error("00000", "relation \"" + alter.name + "\" does not exist, skipping"));
    return out;
  }
  CatalogTablePtr view = catalog.table(alter.view->id);
  for (const auto& [id, table] : catalog.tables())
    if (is_beside(table->definition) && table->definition.replaces() == alter.view->id.value) view = table;
  if (view->definition.filled() != 0) {
    out.notices.push_back(error("00000", "materialized view \"" + alter.name + "\" is filled already"));
    return out;
  }
  pb::CatalogRequest::Pace pace;
  pace.set_view(view->definition.id());
  if (alter.backfill_rows_per_second) pace.set_rows_per_second(alter.backfill_rows_per_second->value);
  if (has_pace(view->definition, pace)) return out;
  out.request.set_expects_version(catalog.version());
  *out.request.add_pace() = pace;
  return out;
}

Result<CatalogPlan, SqlError> plan_drop(const DropStatement& drop, const CatalogSnapshot& catalog) {
  CatalogPlan out;
  out.tag = "DROP TABLE";
  if (drop.tables.empty()) return out;
  if (drop.tables.front()->kind == SchemaKind::View) out.tag = "DROP MATERIALIZED VIEW";
  std::set<TableId> ids;
  for (const TableSchemaPtr& table : drop.tables) ids.insert(table->id);
  const std::set<TableId> views = dependents(catalog, ids);
  if (!drop.cascade) {
    TM_TRY(refuse_dependents(catalog, *catalog.table(drop.tables.front()->id), views, "drop",
                             "Use DROP ... CASCADE to drop the dependent objects too."));
  }
  out.request.set_expects_version(catalog.version());
  for (TableId view : views) {
    out.notices.push_back(
        error("00000", "drop cascades to materialized view " + catalog.table(view)->definition.name()));
    ids.insert(view);
  }
  for (TableId id : ids) add_drop(catalog, id, out.request);
  return out;
}

bool is_done(const pb::CatalogRequest& request, const CatalogSnapshot& catalog) {
  for (const pb::TableDefinition& wanted : request.create()) {
    const CatalogTablePtr table = catalog.table(TableId{wanted.id()});
    if (!table || table->definition.created() != request.expects_version() + 1 ||
        table->definition.sql() != wanted.sql()) {
      return false;
    }
  }
  for (const pb::CatalogRequest::Pace& wanted : request.pace()) {
    const CatalogTablePtr view = catalog.table(TableId{wanted.view()});
    if (!view || !has_pace(view->definition, wanted)) return false;
  }
  return std::none_of(request.drop().begin(), request.drop().end(),
                      [&](uint32_t id) { return catalog.table(TableId{id}) != nullptr; });
}

}  // namespace tidemark::sql
