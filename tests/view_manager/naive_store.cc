#include "tests/view_manager/naive_store.h"

#include <algorithm>

#include "base/assert.h"
#include "sql/types/numeric.h"

namespace tidemark {

using sql::Value;

Change OwnedChange::view() const {
  Change out;
  out.table = table;
  out.hash = hash;
  out.key = key;
  if (before) out.before = *before;
  if (after) out.after = *after;
  out.has_matches = has_matches;
  out.matches = matches;
  out.first_of_side = first_of_side;
  out.last_of_side = last_of_side;
  return out;
}

void NaiveStore::add_table(const pb::TableDefinition& definition) {
  Table& table = tables_[TableId{definition.id()}];
  table.definition = std::make_shared<pb::TableDefinition>(definition);
  Result<sql::TableCodec> codec = sql::TableCodec::make(definition);
  TM_ASSERT(codec.ok());
  table.codec = std::make_shared<sql::TableCodec>(std::move(*codec));
}

const std::map<std::string, std::string>& NaiveStore::rows(TableId table) const {
  return tables_.at(table).rows;
}

std::string NaiveStore::group_of(const Table& table, std::string_view key) const {
  size_t at = 0;
  for (size_t i = 0; i < table.codec->distribution_count(); ++i) {
    sql::KeyColumn column{table.codec->columns()[table.codec->key_columns()[i]].type.kind};
    TM_ASSERT(sql::skip_key(column, key, at).ok());
  }
  return std::string(key.substr(0, at));
}

std::vector<std::pair<std::string, std::string>> NaiveStore::rows_of_group(const Table& table,
                                                                           const std::string& group) const {
  std::vector<std::pair<std::string, std::string>> out;
  for (auto it = table.rows.lower_bound(group); it != table.rows.end() && it->first.starts_with(group);
       ++it) {
    if (group_of(table, it->first) == group) out.push_back(*it);
  }
  return out;
}

void NaiveStore::put(TableId id, uint64_t hash, std::string_view key, std::optional<std::string> row,
                     std::deque<OwnedChange>& out) {
  Table& table = tables_.at(id);
  OwnedChange change;
  change.table = id;
  change.hash = hash;
  change.key = key;
  auto found = table.rows.find(change.key);
  if (found != table.rows.end()) change.before = found->second;
  change.after = row;
  if (change.before == change.after) return;
  if (table.definition->row_rule() == pb::JOIN_SIDE) {
    const std::string group = group_of(table, key);
    auto own = rows_of_group(table, group);
    std::erase_if(own, [&](const auto& one) { return one.first == key; });
    change.first_of_side = own.empty() && !change.before && change.after;
    change.last_of_side = own.empty() && change.before && !change.after;
    change.has_matches = true;
    size_t count = 0;
    for (const auto& [match_key, match_row] :
         rows_of_group(tables_.at(TableId{table.definition->partner()}), group)) {
      if (count++ == matches_max) {
        out.push_back(change);
        change.matches.clear();
        count = 1;
      }
      append_match(change.matches, {match_key, match_row});
    }
  }
  if (row) {
    table.rows[change.key] = *row;
  } else {
    table.rows.erase(change.key);
  }
  out.push_back(std::move(change));
}

void NaiveStore::apply(const Effect& effect, std::deque<OwnedChange>& out) {
  Table& table = tables_.at(effect.table);
  switch (table.definition->row_rule()) {
    case pb::PUT:
    case pb::JOIN_SIDE: {
      TM_ASSERT(effect.kind != EffectKind::Add);
      std::optional<std::string> row;
      if (effect.kind == EffectKind::Put) row = std::string(effect.row);
      put(effect.table, effect.hash, effect.key, std::move(row), out);
      break;
    }
    case pb::SUM:
    case pb::MULTISET: add(table, effect, out); break;
    default: TM_UNREACHABLE();
  }
}

void NaiveStore::add(Table& table, const Effect& effect, std::deque<OwnedChange>& out) {
  TM_ASSERT(effect.kind == EffectKind::Add);
  const std::string key(effect.key);
  sql::RowView more, old;
  TM_ASSERT(sql::RowView::parse(table.codec->layout(), effect.row, more).ok());
  std::vector<Value> sum;
  sql::Arena arena;
  for (size_t i = 0; i < more.column_count(); ++i) sum.push_back(more.get(i));
  auto found = table.rows.find(key);
  std::string old_bytes;
  if (found != table.rows.end()) {
    old_bytes = found->second;
    TM_ASSERT(sql::RowView::parse(table.codec->layout(), old_bytes, old).ok());
    for (size_t i = 0; i < sum.size(); ++i) {
      Value before = old.get(i);
      if (before.is_null()) continue;
      if (sum[i].is_null()) {
        sum[i] = before;
      } else if (before.kind() == sql::TypeKind::BigInt) {
        sum[i] = Value::bigint(before.as_int() + sum[i].as_int());
      } else {
        sql::Numeric total;
        TM_ASSERT(sql::numeric_add(before.as_numeric(), sum[i].as_numeric(), arena, total).ok());
        sum[i] = Value::numeric(total);
      }
    }
  }
  std::optional<std::string> row;
  if (sum[0].as_int() != 0) {
    row.emplace();
    sql::append_row(table.codec->layout(), sum, *row);
  }
  table.hashes[key] = effect.hash;
  put(effect.table, effect.hash, effect.key, std::move(row), out);
  if (table.definition->row_rule() == pb::MULTISET) touched_.insert({effect.table, group_of(table, key)});
  if (table.definition->derived_size() > 0) touched_sums_.insert({effect.table, key});
}

void NaiveStore::finish_batch(std::deque<OwnedChange>& out) {
  for (const auto& [multiset, group] : touched_) {
    for (auto& [id, table] : tables_) {
      for (const pb::DerivedColumn& derived : table.definition->derived()) {
        if (derived.multiset() == multiset.value) touched_sums_.insert({id, group});
      }
      if (table.definition->row_rule() != pb::TOP || table.definition->top_of() != multiset.value) continue;
      auto wanted = rows_of_group(tables_.at(multiset), group);
      if (wanted.size() > table.definition->top_limit()) wanted.resize(table.definition->top_limit());
      std::map<std::string, std::string> first(wanted.begin(), wanted.end());
      const uint64_t hash = sql::distribution_hash(group);
      for (const auto& [key, row] : rows_of_group(table, group)) {
        if (!first.contains(key)) put(id, hash, key, std::nullopt, out);
      }
      for (const auto& [key, row] : first) put(id, hash, key, row, out);
    }
  }
  for (const auto& [id, key] : touched_sums_) {
    Table& table = tables_.at(id);
    auto found = table.rows.find(key);
    if (found == table.rows.end()) continue;
    std::string bytes = found->second;
    sql::RowView view;
    TM_ASSERT(sql::RowView::parse(table.codec->layout(), bytes, view).ok());
    std::vector<Value> values;
    for (size_t i = 0; i < view.column_count(); ++i) values.push_back(view.get(i));
    sql::Arena arena;
    for (const pb::DerivedColumn& derived : table.definition->derived()) {
      const Table& multiset = tables_.at(TableId{derived.multiset()});
      auto rows = rows_of_group(multiset, key);
      const auto& stored = table.codec->stored_columns();
      size_t at =
          static_cast<size_t>(std::find(stored.begin(), stored.end(), derived.column()) - stored.begin());
      if (derived.kind() == pb::DerivedColumn::COUNT_DISTINCT) {
        values[at] = Value::bigint(static_cast<int64_t>(rows.size()));
        continue;
      }
      values[at] = Value();
      if (rows.empty()) continue;
      const auto& [edge, row] = derived.kind() == pb::DerivedColumn::MIN ? rows.front() : rows.back();
      std::vector<Value> decoded;
      TM_ASSERT(multiset.codec->decode(edge, row, arena, decoded).ok());
      values[at] = decoded[multiset.codec->key_columns().back()].copy_into(arena);
    }
    std::string after;
    sql::append_row(table.codec->layout(), values, after);
    put(id, table.hashes[key], key, after, out);
  }
  touched_.clear();
  touched_sums_.clear();
}

}  // namespace tidemark
