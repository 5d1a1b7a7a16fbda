// Turns writes and effects into changes, against the rows ahead of the log: the row rules of
// proto/catalog.proto, the marks of backfills, the matches of joins. All of a request or batch, or nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/region/ahead_rows.h"
#include "node/region/region_state.h"
#include "node/region/row_arithmetic.h"
#include "proto/change.h"
#include "proto/effect.h"

namespace tidemark {

struct PageLimits {
  size_t bytes_max = 128 * 1024;
  size_t matches_max = 1'000;
};

enum class EffectOutcome : uint8_t {
  Done,
  Busy,       // The join of its key is being paged, or this batch has begun to page it.
  Malformed,  // No effect of its table.
};

class ChangeMaker {
 public:
  // REQUIRES: all outlive it. `state` is the owner's, ahead of the log.
  ChangeMaker(const RegionState& state, AheadRows& rows, RowArithmetic& arithmetic, PageLimits limits)
      : state_(state), rows_(rows), arithmetic_(arithmetic), limits_(limits) {}

  // begin(); writes and effects; finish(); then commit() or rollback().
  void begin();
  // The row before, good until the next call.
  std::optional<std::string_view> get(const Table& table, uint64_t hash, std::string_view key) {
    return rows_.get(table.id, hash, key);
  }
  void prefetch(std::span<const RowAddress> places) { rows_.prefetch(places); }
  // `row` none: it goes. Nothing happens if it is so already.
  void write(const Table& table, uint64_t hash, std::string_view key, std::optional<std::string_view> row);
  EffectOutcome apply(const Table& table, const Effect& effect);
  // What follows from changed multisets: derived columns and first rows of groups.
  EffectOutcome finish();
  void commit(Offset record) { rows_.overlay().commit(record); }
  void rollback() { rows_.overlay().rollback(); }

  // Since begin().
  const std::string& changes() const { return changes_; }  // proto/change.h
  std::vector<pb::PendingJoin>& pending_joins() { return pending_joins_; }
  // What they take in a record, besides the changes.
  size_t pending_join_bytes() const;

  // The matches of a pending join after its cursor, as one change; the cursor moves on. False: that was all.
  bool next_join_page(pb::PendingJoin& pending, std::string& changes);

 private:
  // A row of a SUM table with derived columns, until finish().
  struct Group {
    const Table* table = nullptr;
    uint64_t hash = 0;
    std::string key;
    std::optional<std::string> before;
    std::optional<std::string> row;
    bool was_gone = false;                // In between: its derived columns were lost with it.
    std::map<TableId, int64_t> distinct;  // By how many values a multiset of it has grown.
  };
  struct TopGroup {
    const Table* table = nullptr;
    uint64_t hash = 0;
    std::string prefix;
  };
  using GroupKey = std::pair<TableId, std::string>;

  EffectOutcome add(const Table& table, const Effect& effect);
  EffectOutcome add_to_group(const Table& table, const Effect& effect);
  EffectOutcome add_to_multiset(const Table& table, const Effect& effect);
  EffectOutcome write_side(const Table& table, const Effect& effect);
  Group& group_of(const Table& table, uint64_t hash, std::string_view key);
  EffectOutcome finish_group(Group& group);
  std::optional<int64_t> count_distinct(const Group& group, const pb::DerivedColumn& derived);
  void finish_top(const TopGroup& top);
  void emit(const Table& table, Change& change);
  void mark_backfills(const Table& table, Change& change);
  void note_side(const Table& table, std::string_view prefix, Change& change);
  // Adds matches after `cursor` up to the limits, but one at least. False: there are more.
  bool add_matches(const Table& partner, uint64_t hash, std::string_view prefix,
                   std::optional<std::string_view> cursor, std::string& last_key);

  const RegionState& state_;
  AheadRows& rows_;
  RowArithmetic& arithmetic_;
  PageLimits limits_;

  std::string changes_;
  std::vector<pb::PendingJoin> pending_joins_;
  std::set<JoinKey> paging_;
  std::map<GroupKey, size_t> group_index_;
  std::vector<Group> groups_;
  std::set<GroupKey> top_index_;
  std::vector<TopGroup> tops_;

  std::string sum_;  // Reused.
  std::string before_;
  std::string matches_;
  std::string skips_;
  std::string place_;
};

}  // namespace tidemark
