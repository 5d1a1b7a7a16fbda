// What the children of a split and the child of a merge start from: what their parents were at their seals.
#include <algorithm>

#include "base/assert.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "node/region/region_state.h"
#include "proto/change.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

LaneRuns restricted(const LaneRuns& runs, ShardRange lanes) {
  LaneRuns out;
  for (const LaneRun& run : runs.cover(lanes)) out.set(run.lanes, run.position);
  return out;
}

// Where a stream that did not cut this ring version itself passed it: at its next cut, which implies it.
LaneRuns cut_of(const std::vector<CutPoint>& cuts, RingVersion ring) {
  auto cut = std::find_if(cuts.begin(), cuts.end(), [ring](const CutPoint& c) { return c.ring >= ring; });
  return cut == cuts.end() ? LaneRuns{} : cut->at;
}

std::vector<CutPoint> merged_cuts(const std::vector<CutPoint>& low, const std::vector<CutPoint>& high) {
  std::set<RingVersion> rings;
  for (const CutPoint& cut : low) rings.insert(cut.ring);
  for (const CutPoint& cut : high) rings.insert(cut.ring);
  std::vector<CutPoint> out;
  for (RingVersion ring : rings) {
    out.push_back({ring, cut_of(low, ring)});
    out.back().at.raise(cut_of(high, ring));
  }
  return out;
}

bool is_in(const pb::PendingJoin& pending, ShardRange shards, ShardCount count) {
  Change change;
  ChangeReader reader(pending.change());
  return reader.next(change) && shards.contains(count.shard_of(change.hash));
}

// Of a deliberate bug.
[[maybe_unused]] Parts at_lower_positions(const Parts& parts, const RegionIdentity& identity) {
  LaneRuns lower;
  for (ShardId lane{0}; lane < identity.shard_count.all().end; ++lane.value) {
    Position lowest = parts.all().front().applied.at(lane);
    for (const RegionPart& part : parts.all()) lowest = std::min(lowest, part.applied.at(lane));
    lower.set({lane, ShardId{lane.value + 1}}, lowest);
  }
  Parts out;
  out.add({identity.shards, lower});
  return out;
}

const pb::Seal::Child* find_child(const pb::Seal& seal, RegionId child) {
  auto it = std::find_if(seal.children().begin(), seal.children().end(),
                         [child](const pb::Seal::Child& c) { return c.region() == child.value; });
  return it == seal.children().end() ? nullptr : &*it;
}

}  // namespace

RegionState RegionState::child_of(const RegionIdentity& identity) const {
  RegionState out(identity);
  ShardRange shards = identity.shards;
  out.parts_ = parts_.restricted(shards);
  out.committed_ = restricted(committed_, shards);
  out.cuts_ = cuts_;
  for (CutPoint& cut : out.cuts_) cut.at = restricted(cut.at, shards);
  out.catalog_ = catalog_;
  out.backfills_ = backfills_;
  for (auto& [view, backfill] : out.backfills_) {
    backfill.ended = restricted(backfill.ended, shards);
    if (TM_MUTATION("backfill cursors lost on a split") && !backfill.done) backfill.cursor.clear();
  }
  for (const auto& [key, pending] : pending_joins_) {
    if (TM_MUTATION("join pages lost on a split")) continue;
    TM_PROBE("region: a child with pending join pages");
    if (is_in(pending, shards, identity.shard_count)) out.pending_joins_.emplace(key, pending);
  }
  out.sessions_ = sessions_.restricted(shards);
  out.forget_passed();
  return out;
}

RegionState RegionState::split_child(const RegionState& parent, RegionId child) {
  TM_ASSERT(parent.seal_.has_value());
  const pb::Seal::Child* found = find_child(*parent.seal_, child);
  TM_ASSERT(found != nullptr, child);
  return parent.child_of({child, tidemark::from_pb(found->shards()), Generation{parent.seal_->generation()},
                          parent.identity_.shard_count});
}

RegionState RegionState::merge_child(const RegionState& low, const RegionState& high, RegionId child) {
  TM_ASSERT(low.seal_.has_value());
  TM_ASSERT(high.seal_.has_value());
  TM_ASSERT(low.seal_->generation() == high.seal_->generation(), child);
  TM_ASSERT(low.identity_.shards.end == high.identity_.shards.begin, child);
  RegionIdentity identity{child,
                          {low.identity_.shards.begin, high.identity_.shards.end},
                          Generation{low.seal_->generation()},
                          low.identity_.shard_count};
  RegionState out = low.child_of(identity);
  out.parts_ = low.parts_;
  out.parts_.merge(high.parts_);
  if (TM_MUTATION("one parent's positions on merge")) {
    out.parts_ = Parts();
    out.parts_.add({identity.shards, low.parts_.all().front().applied});
  }
  if (TM_MUTATION("the higher position of each lane on merge"))
    out.parts_.raise(out.parts_.differences(identity.shard_count.all()));
  if (TM_MUTATION("the lower position of each lane on merge"))
    out.parts_ = at_lower_positions(out.parts_, identity);
  if (out.parts_.size() > 1) TM_PROBE("region: merged as several parts");
  out.committed_ = low.committed_;
  out.committed_.raise(high.committed_);
  out.cuts_ = merged_cuts(low.cuts_, high.cuts_);
  for (const auto& [view, backfill] : high.backfills_) {
    Backfill& mine = out.backfills_[view];
    mine.done = backfill.done;
    mine.ended.raise(backfill.ended);
  }
  out.pending_joins_.insert(high.pending_joins_.begin(), high.pending_joins_.end());
  out.sessions_.merge(high.sessions_);
  out.forget_passed();
  return out;
}

}  // namespace tidemark
