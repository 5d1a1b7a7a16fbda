#include "tests/sql/run_query.h"

#include "sql/bind/statement.h"
#include "sql/parse/parser.h"
#include "sql/types/text_format.h"

namespace tidemark::sql::testing {
namespace {

void add_rows(const Batch& batch, Answer& out) {
  for (size_t i = 0; i < batch.row_count(); ++i) {
    std::vector<std::string>& row = out.rows.emplace_back();
    for (size_t column = 0; column < batch.width(); ++column) {
      const Value& value = batch.row(i)[column];
      row.push_back(value.is_null() ? "\\N" : to_text(value));
    }
  }
}

}  // namespace

Answer refused(const SqlError& error) {
  return {error.state, error.message, {}, {}};
}

Answer run_query(const std::string& sql, const Catalog& catalog, RowSource& source,
                 const ExecutionSettings& settings) {
  const auto parsed = parse_statements(sql);
  if (!parsed.ok()) return refused(parsed.error());
  ParamTypes params;
  const auto bound = bind_statement((*parsed)[0], sql, catalog, params);
  if (!bound.ok()) return refused(bound.error());
  const Relation& query = *std::get<SelectStatement>(bound->body).query;
  const auto execution = SelectExecution::start(query, source, settings);
  if (!execution.ok()) return refused(execution.error());
  Answer out;
  for (const RelationColumn& column : query.columns) out.types.emplace_back(type_name(column.type.kind));
  for (Batch batch;;) {
    const auto pull = (*execution)->next(batch);
    if (!pull.ok()) return refused(pull.error());
    if (*pull == Pull::End) return out;
    if (*pull == Pull::Rows) add_rows(batch, out);
  }
}

}  // namespace tidemark::sql::testing
