#include "sql/session/statement.h"

#include <algorithm>

#include "sql/parse/parser.h"
#include "sql/session/errors.h"

namespace tidemark::sql {

namespace {

std::vector<ResultColumn> plain(const std::vector<RelationColumn>& columns) {
  std::vector<ResultColumn> out;
  for (const RelationColumn& column : columns) out.push_back({column.name, column.type});
  return out;
}

// What a statement gives rows of.
struct ColumnsOf {
  std::vector<ResultColumn> operator()(const SelectStatement& s) const { return plain(s.query->columns); }
  std::vector<ResultColumn> operator()(const InsertStatement& s) const { return plain(s.returning.columns); }
  std::vector<ResultColumn> operator()(const UpdateStatement& s) const { return plain(s.returning.columns); }
  std::vector<ResultColumn> operator()(const DeleteStatement& s) const { return plain(s.returning.columns); }
  std::vector<ResultColumn> operator()(const HoldWritesStatement& s) const {
    return {{s.function, SqlType::of(TypeKind::Boolean)}};
  }
  std::vector<ResultColumn> operator()(const ExplainStatement&) const {
    return {{"QUERY PLAN", SqlType::of(TypeKind::Text)}};
  }
  std::vector<ResultColumn> operator()(const ast::Show& s) const {
    const SqlType text = SqlType::of(TypeKind::Text);
    if (s.name == "all") return {{"name", text}, {"setting", text}, {"description", text}};
    return {{s.name, text}};
  }
  template <typename Other>
  std::vector<ResultColumn> operator()(const Other&) const {
    return {};
  }
};

void collect_tables(const Relation& relation, std::vector<TableSchemaPtr>& out) {
  if (relation.kind == RelationKind::Scan) {
    const bool is_new = std::none_of(out.begin(), out.end(),
                                     [&](const TableSchemaPtr& table) { return table == relation.table; });
    if (is_new) out.push_back(relation.table);
  }
  for (const RelationPtr& input : relation.inputs) collect_tables(*input, out);
}

}  // namespace

Result<std::shared_ptr<const BoundText>, SqlError> BoundText::bind(std::string_view text,
                                                                   std::span<const TypeKind> parameters,
                                                                   CatalogSnapshotPtr catalog) {
  auto out = std::make_shared<BoundText>();
  out->text_ = text;
  out->catalog_ = std::move(catalog);
  TM_SQL_ASSIGN(const std::vector<ast::Statement> statements, parse_statements(out->text_));
  if (statements.empty()) return std::shared_ptr<const BoundText>(out);
  if (statements.size() > 1) {
    return error(sqlstate::kSyntaxError, "cannot insert multiple commands into a prepared statement");
  }
  ParamTypes types;
  for (size_t i = 0; i < parameters.size(); ++i) {
    types.at(static_cast<int>(i)) = SqlType::of(parameters[i]);
  }
  TM_SQL_ASSIGN(BoundStatement bound, bind_statement(statements[0], out->text_, *out->catalog_, types));
  out->body_ = std::make_unique<const BoundStatement>(std::move(bound));
  for (size_t i = 0; i < types.types.size(); ++i) {
    if (types.types[i].kind == TypeKind::Unknown) {
      return error(sqlstate::kIndeterminateDatatype,
                   "could not determine data type of parameter $" + std::to_string(i + 1),
                   "Cast it: $" + std::to_string(i + 1) + "::text.");
    }
    out->parameters_.push_back(types.types[i].kind);
  }
  out->columns_ = std::visit(ColumnsOf{}, out->body_->body);
  return std::shared_ptr<const BoundText>(out);
}

std::vector<TableSchemaPtr> tables_of(const Relation& query) {
  std::vector<TableSchemaPtr> out;
  collect_tables(query, out);
  return out;
}

}  // namespace tidemark::sql
