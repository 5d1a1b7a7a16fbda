#define XXH_INLINE_ALL
#include "view_manager/combiner.h"

#include <xxhash.h>

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

namespace {

uint64_t hash_of(const Effect& effect) {
  return XXH3_64bits_withSeed(effect.key.data(), effect.key.size(), effect.table.value);
}

// NULL is what a column that is not summed (or not yet) has.
sql::Value sum_of(const sql::Value& a, const sql::Value& b, sql::Arena& arena) {
  if (a.is_null()) return b;
  if (b.is_null()) return a;
  TM_ASSERT(a.kind() == b.kind());
  if (a.kind() == sql::TypeKind::BigInt) return sql::Value::bigint(a.as_int() + b.as_int());
  TM_ASSERT(a.kind() == sql::TypeKind::Numeric);
  sql::Numeric out;
  sql::Fault fault = sql::numeric_add(a.as_numeric(), b.as_numeric(), arena, out);
  TM_ASSERT(fault.ok());  // Sinks take no number whose sums could come to the limits of numeric.
  return sql::Value::numeric(out);
}

}  // namespace

void Combiner::add(const Effect& effect) {
  uint64_t key_hash = hash_of(effect);
  uint32_t& slot = slot_of(effect, key_hash);
  if (slot == 0) {
    rows_.push_back({effect, key_hash, kNone, nullptr});
    slot = static_cast<uint32_t>(rows_.size());
    if (rows_.size() * 2 > table_.size()) grow();
    return;
  }
  Row& row = rows_[slot - 1];
  ++combined_;
  if (effect.kind == EffectKind::Add) {
    sum_up(row, effect.row);
  } else {
    row.effect = effect;
  }
}

uint32_t& Combiner::slot_of(const Effect& effect, uint64_t key_hash) {
  const size_t mask = table_.size() - 1;
  for (size_t at = key_hash & mask;; at = (at + 1) & mask) {
    if (table_[at] == 0) return table_[at];
    const Row& row = rows_[table_[at] - 1];
    if (row.key_hash == key_hash && row.effect.table == effect.table && row.effect.key == effect.key) {
      return table_[at];
    }
  }
}

void Combiner::grow() {
  table_.assign(table_.size() * 2, 0);
  const size_t mask = table_.size() - 1;
  for (size_t i = 0; i < rows_.size(); ++i) {
    size_t at = rows_[i].key_hash & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = static_cast<uint32_t>(i + 1);
  }
}

void Combiner::sum_up(Row& row, std::string_view more) {
  TM_ASSERT(row.effect.kind == EffectKind::Add);
  sql::RowView view;
  if (row.values == kNone) {
    row.layout = &layouts_->sum_layout(row.effect.table);
    TM_ASSERT(sql::RowView::parse(*row.layout, row.effect.row, view).ok());
    row.values = static_cast<uint32_t>(values_.size());
    for (size_t i = 0; i < row.layout->column_count(); ++i) values_.push_back(view.get(i));
  }
  TM_ASSERT(sql::RowView::parse(*row.layout, more, view).ok());
  for (size_t i = 0; i < row.layout->column_count(); ++i) {
    sql::Value& value = values_[row.values + i];
    value = sum_of(value, view.get(i), arena_);
  }
}

void Combiner::append_to(std::string& out) {
  for (Row& row : rows_) {
    if (row.values != kNone) {
      scratch_.clear();
      sql::append_row(*row.layout, {&values_[row.values], row.layout->column_count()}, scratch_);
      row.effect.row = scratch_;
    }
    append_effect(out, row.effect);
  }
}

void Combiner::clear() {
  if (rows_.size() * 8 < table_.size() && table_.size() > kSlotsMin) {
    table_.resize(std::max(kSlotsMin, table_.size() / 2));
  }
  std::fill(table_.begin(), table_.end(), 0);
  rows_.clear();
  values_.clear();
  arena_.reset();
  combined_ = 0;
}

}  // namespace tidemark
