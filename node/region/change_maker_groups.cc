// What a region keeps by itself from the multisets of a group: derived columns and first rows.
#include <algorithm>

#include "node/region/change_maker.h"

namespace tidemark {

namespace {

std::optional<std::string_view> view_of(const std::optional<std::string>& row) {
  return row ? std::optional<std::string_view>(*row) : std::nullopt;
}

}  // namespace

ChangeMaker::Group& ChangeMaker::group_of(const Table& table, uint64_t hash, std::string_view key) {
  auto [it, is_new] = group_index_.try_emplace({table.id, std::string(key)}, groups_.size());
  if (is_new) {
    Group& group = groups_.emplace_back();
    group.table = &table;
    group.hash = hash;
    group.key.assign(key);
    if (auto row = rows_.get(table.id, hash, key)) group.before.emplace(*row);
    group.row = group.before;
  }
  return groups_[it->second];
}

EffectOutcome ChangeMaker::add_to_group(const Table& table, const Effect& effect) {
  Group& group = group_of(table, effect.hash, effect.key);
  switch (arithmetic_.add(*table.definition, view_of(group.row), effect.row, sum_)) {
    case AddOutcome::Malformed: return EffectOutcome::Malformed;
    case AddOutcome::Gone:
      group.row.reset();
      group.was_gone = true;
      break;
    case AddOutcome::Row: group.row = sum_;
  }
  return EffectOutcome::Done;
}

EffectOutcome ChangeMaker::add_to_multiset(const Table& table, const Effect& effect) {
  std::optional<size_t> size = arithmetic_.distribution_size(*table.definition, effect.key);
  if (!size) return EffectOutcome::Malformed;
  bool was_there = rows_.get(table.id, effect.hash, effect.key).has_value();
  EffectOutcome outcome = add(table, effect);
  if (outcome != EffectOutcome::Done) return outcome;
  bool is_there = rows_.get(table.id, effect.hash, effect.key).has_value();

  std::string_view prefix = effect.key.substr(0, *size);
  for (TableId id : table.derived_in) {
    if (was_there == is_there) break;
    group_of(*state_.catalog().find(id), effect.hash, prefix).distinct[table.id] += is_there ? 1 : -1;
  }
  for (TableId id : table.tops) {
    if (!top_index_.emplace(id, std::string(prefix)).second) continue;
    tops_.push_back({state_.catalog().find(id), effect.hash, std::string(prefix)});
  }
  return EffectOutcome::Done;
}

EffectOutcome ChangeMaker::finish() {
  for (Group& group : groups_) {
    if (EffectOutcome outcome = finish_group(group); outcome != EffectOutcome::Done) return outcome;
  }
  for (const TopGroup& top : tops_) finish_top(top);
  return EffectOutcome::Done;
}

// The row may come before or after its values, in another batch: whenever there is a row, its derived columns
// are those of the multiset as it is now.
EffectOutcome ChangeMaker::finish_group(Group& group) {
  const pb::TableDefinition& definition = *group.table->definition;
  for (const pb::DerivedColumn& derived : definition.derived()) {
    TableId multiset{derived.multiset()};
    const Table* values = state_.catalog().find(multiset);
    bool stale = !group.before || group.was_gone || group.distinct.contains(multiset);
    if (!group.row || !stale || values == nullptr) continue;
    bool ok = false;
    if (derived.kind() == pb::DerivedColumn::COUNT_DISTINCT) {
      std::optional<int64_t> count = count_distinct(group, derived);
      ok = count && arithmetic_.set_count(definition, *group.row, derived.column(), *count, sum_);
    } else {
      Direction end = derived.kind() == pb::DerivedColumn::MIN ? Direction::Forward : Direction::Backward;
      AheadCursor cursor = rows_.seek_group(multiset, group.hash, group.key, end);
      std::optional<std::string_view> key;
      if (in_group(cursor, group.hash, group.key)) key = cursor.key();
      ok = arithmetic_.set_value(definition, *group.row, derived.column(), *values->definition, key, sum_);
    }
    if (!ok) return EffectOutcome::Malformed;
    group.row = sum_;
  }
  write(*group.table, group.hash, group.key, view_of(group.row));
  return EffectOutcome::Done;
}

std::optional<int64_t> ChangeMaker::count_distinct(const Group& group, const pb::DerivedColumn& derived) {
  TableId multiset{derived.multiset()};
  if (group.before) {
    auto old = arithmetic_.get_count(*group.table->definition, *group.before, derived.column());
    if (!old) return std::nullopt;
    auto grown = group.distinct.find(multiset);
    return *old + (grown == group.distinct.end() ? 0 : grown->second);
  }
  int64_t count = 0;
  AheadCursor cursor = rows_.seek_group(multiset, group.hash, group.key, Direction::Forward);
  for (; in_group(cursor, group.hash, group.key); cursor.next()) ++count;
  return count;
}

// The TOP table has the keys of its multiset: its rows are the first of the group, copied.
void ChangeMaker::finish_top(const TopGroup& top) {
  struct Row {
    std::string key;
    std::string row;
  };
  auto first_of = [&](TableId table) {
    std::vector<Row> out;
    AheadCursor cursor = rows_.seek_group(table, top.hash, top.prefix, Direction::Forward);
    for (; in_group(cursor, top.hash, top.prefix) && out.size() < top.table->definition->top_limit();
         cursor.next()) {
      out.push_back({std::string(cursor.key()), std::string(cursor.row())});
    }
    return out;
  };
  std::vector<Row> wanted = first_of(TableId{top.table->definition->top_of()});
  for (const Row& old : first_of(top.table->id)) {
    auto row = std::lower_bound(wanted.begin(), wanted.end(), old.key,
                                [](const Row& a, const std::string& key) { return a.key < key; });
    if (row == wanted.end() || row->key != old.key) write(*top.table, top.hash, old.key, std::nullopt);
  }
  for (const Row& row : wanted) write(*top.table, top.hash, row.key, row.row);
}

}  // namespace tidemark
