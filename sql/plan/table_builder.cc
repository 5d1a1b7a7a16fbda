#include "sql/plan/table_builder.h"

#include <algorithm>

#include "sql/types/sql_type.h"

namespace tidemark::sql {

namespace {

// A key forgets the scale of a numeric and the sign of zero.
bool key_keeps(TypeKind kind) {
  return kind != TypeKind::Numeric && kind != TypeKind::Double && kind != TypeKind::Jsonb;
}

}  // namespace

TableBuilder::TableBuilder(TableId id, pb::TableKind kind, pb::RowRule rule) {
  definition_.set_id(id.value);
  definition_.set_kind(kind);
  definition_.set_row_rule(rule);
}

int TableBuilder::add(const std::string& name, SqlType type, ExpressionPtr expression, bool hidden) {
  pb::Column& column = *definition_.add_columns();
  column.set_name(name);
  column.set_type(type_name(type));
  column.set_hidden(hidden);
  expressions_.push_back(std::move(expression));
  types_.push_back(type);
  return definition_.columns_size() - 1;
}

int TableBuilder::find(const Expression& expression) const {
  if (!key_keeps(expression.type.kind)) return -1;
  for (size_t i = 0; i < expressions_.size(); ++i) {
    if (expressions_[i] && is_same(*expressions_[i], expression)) return static_cast<int>(i);
  }
  return -1;
}

int TableBuilder::find_or_add(const std::string& name, const Expression& expression) {
  int found = find(expression);
  return found >= 0 ? found : add(name, expression.type, clone(expression), true);
}

bool TableBuilder::in_key(int column) const {
  auto is = [column](uint32_t other) { return static_cast<int>(other) == column; };
  return std::any_of(definition_.distribution().begin(), definition_.distribution().end(), is) ||
         std::any_of(definition_.clustering().begin(), definition_.clustering().end(), is);
}

ExpressionPtr TableBuilder::column(int index) const {
  return make_column(index, types_[static_cast<size_t>(index)]);
}

}  // namespace tidemark::sql
