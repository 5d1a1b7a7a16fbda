#include "node/region/change_maker.h"

#include <algorithm>

#include "base/assert.h"
#include "base/mutation.h"
#include "base/probe.h"

namespace tidemark {

namespace {

bool contains(const std::vector<TableId>& tables, TableId table) {
  return std::find(tables.begin(), tables.end(), table) != tables.end();
}

Ordered ordered(const Table& table) {
  return table.is_ordered() ? Ordered::Yes : Ordered::No;
}

}  // namespace

void ChangeMaker::begin() {
  changes_.clear();
  pending_joins_.clear();
  paging_.clear();
  group_index_.clear();
  groups_.clear();
  top_index_.clear();
  tops_.clear();
  rows_.overlay().begin();
}

void ChangeMaker::write(const Table& table, uint64_t hash, std::string_view key,
                        std::optional<std::string_view> row) {
  std::optional<std::string_view> before = rows_.get(table.id, hash, key);
  if (before == row) return;
  Change change;
  change.hash = hash;
  change.key = key;
  change.before = before;
  change.after = row;
  emit(table, change);
}

// `change.before` may still point into the store or the overlay: it is written out before the row changes.
void ChangeMaker::emit(const Table& table, Change& change) {
  change.table = table.id;
  std::optional<std::string_view> after = change.after;
  if (!table.feeds_views) change.before.reset();
  if (!state_.backfills().empty() && !TM_MUTATION("backfill without exclusion marks"))
    mark_backfills(table, change);
  append_change(changes_, change);
  rows_.overlay().write(table.id, change.hash, change.key, after, ordered(table));
  if (TM_MUTATION("rows in flight reach the checkpoint") && after)
    rows_.store().put(table.id, change.hash, change.key, *after);
}

// A row beyond a view's page cursor comes to the view by a later page.
void ChangeMaker::mark_backfills(const Table& table, Change& change) {
  skips_.clear();
  place_.clear();
  for (const auto& [view, backfill] : state_.backfills()) {
    if (backfill.done) continue;
    const Table* definition = state_.catalog().find(view);
    if (definition == nullptr || !contains(definition->backfill_sources, table.id)) continue;
    if (place_.empty()) place_ = encode_store_key(table.id, change.hash, change.key);
    if (place_ <= backfill.cursor) continue;
    TM_PROBE("region: a change beyond the cursor of a backfill");
    append_skipped_view(skips_, view);
  }
  change.skipped_views = skips_;
}

EffectOutcome ChangeMaker::apply(const Table& table, const Effect& effect) {
  switch (table.rule) {
    case pb::PUT:
      if (effect.kind == EffectKind::Add) return EffectOutcome::Malformed;
      write(table, effect.hash, effect.key,
            effect.kind == EffectKind::Put ? std::optional(effect.row) : std::nullopt);
      return EffectOutcome::Done;
    case pb::SUM:
      if (effect.kind != EffectKind::Add) return EffectOutcome::Malformed;
      return table.has_derived() ? add_to_group(table, effect) : add(table, effect);
    case pb::MULTISET:
      return effect.kind == EffectKind::Add ? add_to_multiset(table, effect) : EffectOutcome::Malformed;
    case pb::JOIN_SIDE:
      return effect.kind == EffectKind::Add ? EffectOutcome::Malformed : write_side(table, effect);
    default: return EffectOutcome::Malformed;
  }
}

EffectOutcome ChangeMaker::add(const Table& table, const Effect& effect) {
  Change change;
  change.hash = effect.hash;
  change.key = effect.key;
  change.before = rows_.get(table.id, effect.hash, effect.key);
  switch (arithmetic_.add(*table.definition, change.before, effect.row, sum_)) {
    case AddOutcome::Malformed: return EffectOutcome::Malformed;
    case AddOutcome::Gone: break;
    case AddOutcome::Row: change.after = sum_;
  }
  if (change.before != change.after) emit(table, change);
  return EffectOutcome::Done;
}

EffectOutcome ChangeMaker::write_side(const Table& table, const Effect& effect) {
  std::optional<size_t> size = arithmetic_.distribution_size(*table.definition, effect.key);
  if (!size) return EffectOutcome::Malformed;
  std::string_view prefix = effect.key.substr(0, *size);
  JoinKey key = join_key_of(state_.catalog(), table.id, prefix);
  if ((state_.pending_joins().contains(key) || paging_.contains(key)) &&
      !TM_MUTATION("a join changes while it is paged"))
    return EffectOutcome::Busy;

  std::optional<std::string_view> before = rows_.get(table.id, effect.hash, effect.key);
  Change change;
  change.table = table.id;
  change.hash = effect.hash;
  change.key = effect.key;
  if (effect.kind == EffectKind::Put) change.after = effect.row;
  if (before == change.after) return EffectOutcome::Done;
  if (before) change.before = before_.assign(*before);
  note_side(table, prefix, change);

  matches_.clear();
  std::string last_key;
  const Table* partner = state_.catalog().find(TableId{table.definition->partner()});
  bool all = partner == nullptr || add_matches(*partner, effect.hash, prefix, std::nullopt, last_key);
  if (!all) {
    paging_.insert(std::move(key));
    pb::PendingJoin& pending = pending_joins_.emplace_back();
    pending.set_table(table.id.value);
    pending.set_join_key(std::string(prefix));
    append_change(*pending.mutable_change(), change);
    pending.set_cursor(last_key);
  }
  change.has_matches = true;
  change.matches = matches_;
  emit(table, change);
  return EffectOutcome::Done;
}

void ChangeMaker::note_side(const Table& table, std::string_view prefix, Change& change) {
  if (change.before.has_value() == change.after.has_value()) return;
  AheadCursor cursor = rows_.seek_group(table.id, change.hash, prefix, Direction::Forward);
  if (in_group(cursor, change.hash, prefix) && cursor.key() == change.key) cursor.next();
  if (in_group(cursor, change.hash, prefix)) return;
  change.first_of_side = change.after.has_value();
  change.last_of_side = change.before.has_value();
}

bool ChangeMaker::add_matches(const Table& partner, uint64_t hash, std::string_view prefix,
                              std::optional<std::string_view> cursor, std::string& last_key) {
  AheadCursor at = rows_.seek(partner.id, hash, cursor.value_or(prefix), Direction::Forward);
  if (cursor && at.valid() && at.hash() == hash && at.key() == *cursor) at.next();
  size_t count = 0;
  for (; in_group(at, hash, prefix); at.next()) {
    const size_t bytes = matches_.size() + at.key().size() + at.row().size();
    if (count == limits_.matches_max || (count > 0 && bytes > limits_.bytes_max)) return false;
    append_match(matches_, {at.key(), at.row()});
    last_key.assign(at.key());
    ++count;
  }
  return true;
}

size_t ChangeMaker::pending_join_bytes() const {
  constexpr size_t kTagBytes = 8;
  size_t bytes = 0;
  for (const pb::PendingJoin& pending : pending_joins_) bytes += pending.ByteSizeLong() + kTagBytes;
  return bytes;
}

bool ChangeMaker::next_join_page(pb::PendingJoin& pending, std::string& changes) {
  Change change;
  bool ok = ChangeReader(pending.change()).next(change);
  TM_ASSERT(ok, pending.table());
  const Table* table = state_.catalog().find(change.table);
  const Table* partner =
      table == nullptr ? nullptr : state_.catalog().find(TableId{table->definition->partner()});
  if (partner == nullptr) return false;
  matches_.clear();
  std::string last_key;
  bool all = add_matches(*partner, change.hash, pending.join_key(), pending.cursor(), last_key);
  if (!matches_.empty()) {
    change.has_matches = true;
    change.matches = matches_;
    append_change(changes, change);
  }
  if (!all) pending.set_cursor(last_key);
  return !all;
}

}  // namespace tidemark
