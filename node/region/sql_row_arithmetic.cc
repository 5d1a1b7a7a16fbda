#include "node/region/sql_row_arithmetic.h"

#include <algorithm>

#include "sql/table/table_codec.h"
#include "sql/types/key_encoding.h"
#include "sql/types/numeric.h"
#include "sql/types/row_encoding.h"

namespace tidemark {

using sql::Numeric;
using sql::RowView;
using sql::TypeKind;
using sql::Value;

struct SqlRowArithmetic::Shape {
  sql::TableCodec codec;
  std::vector<bool> is_derived;  // Per stored column.

  std::optional<size_t> stored_index(uint32_t column) const {
    auto it = std::find(codec.stored_columns().begin(), codec.stored_columns().end(), column);
    if (it == codec.stored_columns().end()) return std::nullopt;
    return static_cast<size_t>(it - codec.stored_columns().begin());
  }
};

namespace {

// False: they can not be added. NULL counts as nothing. Sinks take no number whose sums could come to the
// limits of numeric (view_manager/operators/aggregate.cc).
bool add_values(const Value& a, const Value& b, sql::Arena& arena, Value& out) {
  if (a.is_null() || b.is_null()) {
    out = a.is_null() ? b : a;
    return true;
  }
  if (a.kind() == TypeKind::Numeric) {
    Numeric sum;
    if (!sql::numeric_add(a.as_numeric(), b.as_numeric(), arena, sum).ok()) return false;
    out = Value::numeric(sum);
    return true;
  }
  int64_t sum = 0;
  if (a.kind() != TypeKind::BigInt || __builtin_add_overflow(a.as_int(), b.as_int(), &sum)) return false;
  out = Value::bigint(sum);
  return true;
}

}  // namespace

SqlRowArithmetic::SqlRowArithmetic() = default;
SqlRowArithmetic::~SqlRowArithmetic() = default;

const SqlRowArithmetic::Shape* SqlRowArithmetic::shape_of(const pb::TableDefinition& table) {
  auto [it, is_new] = shapes_.try_emplace(table.id());
  if (!is_new) return it->second.get();
  Result<sql::TableCodec> codec = sql::TableCodec::make(table);
  if (!codec) return nullptr;
  auto shape = std::make_unique<Shape>(Shape{std::move(*codec), {}});
  for (size_t column : shape->codec.stored_columns()) {
    shape->is_derived.push_back(std::any_of(table.derived().begin(), table.derived().end(),
                                            [column](const auto& d) { return d.column() == column; }));
  }
  it->second = std::move(shape);
  return it->second.get();
}

AddOutcome SqlRowArithmetic::add(const pb::TableDefinition& table, std::optional<std::string_view> row,
                                 std::string_view delta, std::string& out) {
  const Shape* shape = shape_of(table);
  RowView old;
  RowView more;
  if (shape == nullptr || shape->is_derived.empty()) return AddOutcome::Malformed;
  if (!RowView::parse(shape->codec.layout(), delta, more).ok()) return AddOutcome::Malformed;
  if (row && !RowView::parse(shape->codec.layout(), *row, old).ok()) return AddOutcome::Malformed;
  arena_.reset();
  values_.resize(more.column_count());
  for (size_t i = 0; i < values_.size(); ++i) {
    Value before = row ? old.get(i) : Value();
    if (shape->is_derived[i]) {
      values_[i] = before;
    } else if (!add_values(before, more.get(i), arena_, values_[i])) {
      return AddOutcome::Malformed;
    }
  }
  const Value& count = values_[0];
  bool is_zero = count.is_null() ||
                 (count.kind() == TypeKind::Numeric ? count.as_numeric().is_zero() : count.as_int() == 0);
  if (is_zero) return AddOutcome::Gone;
  out.clear();
  sql::append_row(shape->codec.layout(), values_, out);
  return AddOutcome::Row;
}

std::optional<size_t> SqlRowArithmetic::distribution_size(const pb::TableDefinition& table,
                                                          std::string_view key) {
  const Shape* shape = shape_of(table);
  if (shape == nullptr) return std::nullopt;
  size_t at = 0;
  for (size_t i = 0; i < shape->codec.distribution_count(); ++i) {
    if (!sql::skip_key(shape->codec.key_kinds()[i], key, at).ok()) return std::nullopt;
  }
  return at;
}

bool SqlRowArithmetic::set(const Shape& shape, std::string_view row, uint32_t column, const Value& value,
                           std::string& out) {
  std::optional<size_t> index = shape.stored_index(column);
  RowView old;
  if (!index || !RowView::parse(shape.codec.layout(), row, old).ok()) return false;
  if (!value.is_null() && value.kind() != shape.codec.layout().kind(*index)) return false;
  values_.resize(old.column_count());
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = old.get(i);
  values_[*index] = value;
  out.clear();
  sql::append_row(shape.codec.layout(), values_, out);
  return true;
}

// The value is the first clustering column of the multiset.
bool SqlRowArithmetic::set_value(const pb::TableDefinition& table, std::string_view row, uint32_t column,
                                 const pb::TableDefinition& multiset,
                                 std::optional<std::string_view> multiset_key, std::string& out) {
  const Shape* shape = shape_of(table);
  const Shape* values = shape_of(multiset);
  if (shape == nullptr || values == nullptr) return false;
  arena_.reset();
  Value value;
  if (multiset_key) {
    std::optional<size_t> at = distribution_size(multiset, *multiset_key);
    size_t first = values->codec.distribution_count();
    if (!at || first >= values->codec.key_kinds().size()) return false;
    if (!sql::read_key(values->codec.key_kinds()[first], *multiset_key, *at, arena_, value).ok())
      return false;
  }
  return set(*shape, row, column, value, out);
}

std::optional<int64_t> SqlRowArithmetic::get_count(const pb::TableDefinition& table, std::string_view row,
                                                   uint32_t column) {
  const Shape* shape = shape_of(table);
  if (shape == nullptr) return std::nullopt;
  std::optional<size_t> index = shape->stored_index(column);
  RowView view;
  if (!index || !RowView::parse(shape->codec.layout(), row, view).ok()) return std::nullopt;
  Value value = view.get(*index);
  if (value.is_null()) return 0;
  if (value.kind() != TypeKind::BigInt) return std::nullopt;
  return value.as_int();
}

bool SqlRowArithmetic::set_count(const pb::TableDefinition& table, std::string_view row, uint32_t column,
                                 int64_t count, std::string& out) {
  const Shape* shape = shape_of(table);
  return shape != nullptr && set(*shape, row, column, Value::bigint(count), out);
}

}  // namespace tidemark
