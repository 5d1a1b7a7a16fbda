#include "node/queue/region_queues.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/assert.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

constexpr Micros kStoppedPatience{4'000'000};

}  // namespace

RegionQueues::RegionQueues(const RegionState& state, Owner owner, const std::vector<Ancestor>& ancestors,
                           const Rings& rings, const ViewManagerDirectory& view_managers,
                           Scheduler& scheduler, Transport& transport, FeedOptions options)
    : state_(state),
      owner_(std::move(owner)),
      rings_(rings),
      view_managers_(view_managers),
      scheduler_(scheduler),
      transport_(transport),
      options_(options),
      lanes_(state.identity().shards.size()) {
  const RegionIdentity& identity = state_.identity();
  FeedIdentity own{identity.region, owner_.incarnation, owner_.stream, identity.shards, identity.generation};
  StreamFeed::Listener listener;
  listener.on_lane_stopped = [this](ShardId lane, Position stop) { on_stopped(lane, stop); };
  listen(listener, owner_.stream);
  Feed feed;
  feed.feed = std::make_unique<StreamFeed>(own, identity.shard_count, rings_, scheduler_, transport_,
                                           options_, listener);
  feed.feed->set_end(state_.reader().next);
  feed.feed->set_source(owner_.log, owner_.reader_at);
  feeds_.push_back(std::move(feed));
  for (const Ancestor& ancestor : ancestors) add_ancestor(ancestor);
  learn_members();
}

RegionQueues::~RegionQueues() = default;

void RegionQueues::add_ancestor(const Ancestor& ancestor) {
  const RegionIdentity& own = state_.identity();
  StreamId stream{owner_.stream.cluster, ancestor.region};
  FeedIdentity identity{own.region, owner_.incarnation, stream, ancestor.shards, ancestor.generation};
  StreamFeed::Listener listener;
  listener.on_lane_stopped = [this](ShardId lane, Position stop) {
    if (state_.identity().shards.contains(lane)) on_stopped(lane, stop);
  };
  listen(listener, stream);
  Feed feed;
  feed.feed = std::make_unique<StreamFeed>(identity, own.shard_count, rings_, scheduler_, transport_,
                                           options_, listener);
  TM_ASSERT(!ancestor.readers.empty());
  feed.feed->set_end(ancestor.readers.back().next);
  feeds_.push_back(std::move(feed));
  open_ancestor(feeds_.size() - 1, std::make_shared<ReaderHistory>(ancestor.readers));
}

void RegionQueues::listen(StreamFeed::Listener& listener, StreamId stream) {
  listener.on_failed = [this, stream](const LogFailure& failure) {
    owner_.say("view managers are not sent what is in log " + stream_name(stream) + ": " + failure.message);
  };
  listener.committed = [this](ShardRange lanes) { return state_.committed().lowest(lanes); };
  listener.on_passed = [this] { activate_ = true; };
}

void RegionQueues::open_ancestor(size_t index, std::shared_ptr<ReaderHistory> history) {
  if (index >= feeds_.size()) return;  // Every lane has passed it meanwhile.
  StreamId stream = feeds_[index].feed->identity().stream;
  auto opened = [this, index, history,
                 guard = scheduler_.token()](Result<std::shared_ptr<Log>, LogFailure> log) {
    if (guard.expired() || index >= feeds_.size()) return;
    if (!log.ok()) {
      return scheduler_.post_after(options_.read_retry,
                                   [this, index, history] { open_ancestor(index, history); });
    }
    feeds_[index].log = *log;
    feeds_[index].feed->set_source(log->get(),
                                   [history](Offset from) { return history->at_or_before(from); });
    feeds_[index].feed->pump();
  };
  owner_.open_log(stream, opened);
}

RegionQueues::Lane& RegionQueues::lane_at(ShardId lane) {
  return lanes_[lane.value - state_.identity().shards.begin.value];
}

bool RegionQueues::is_alive(MemberIndex member) const {
  return alive_.count(member) != 0;
}

void RegionQueues::learn_members() {
  alive_.clear();
  for (size_t i = 1; i < rings_.member_count(); ++i) {
    auto index = static_cast<MemberIndex>(i);
    if (auto bearer = view_managers_.bearer(rings_.identity(index))) alive_.emplace(index, *bearer);
  }
  activate_ = true;
}

void RegionQueues::on_applied(FeedRecord record) {
  bool progress = record.body && (record.body->has_progress() || record.body->has_cut());
  if (progress && lanes_unsettled_ > 0) activate_ = true;
  feeds_.front().feed->push(std::move(record));
}

void RegionQueues::on_members_changed() {
  std::map<MemberIndex, ViewManagerDirectory::Bearer> before = alive_;
  learn_members();
  for (Feed& feed : feeds_) {
    feed.feed->on_rings_changed();
    for (QueueSlot slot : feed.feed->slots()) {
      const Queue& queue = *feed.feed->find(slot);
      auto now = alive_.find(queue.member);
      auto then = before.find(queue.member);
      bool same = now != alive_.end() && then != before.end() && now->second.boot == then->second.boot &&
                  now->second.address == queue.address;
      if (!same) close_queue(feed, slot);
    }
  }
  reopen_stopped([&](const Lane& lane) {
    auto now = alive_.find(lane.member);
    auto then = before.find(lane.member);
    return now == alive_.end() || then == before.end() || now->second.boot != then->second.boot;
  });
}

void RegionQueues::on_disconnect(const Address& peer) {
  for (Feed& feed : feeds_) {
    for (QueueSlot slot : feed.feed->slots()) {
      if (feed.feed->find(slot)->address == peer) close_queue(feed, slot);
    }
  }
  reopen_stopped([&](const Lane& lane) {
    auto bearer = alive_.find(lane.member);
    return bearer == alive_.end() || bearer->second.address == peer;
  });
  activate_ = true;
}

void RegionQueues::on_credit(const pb::QueueCredit& credit) {
  if (credit.incarnation() != owner_.incarnation.value) return;
  if (lanes_unheard_ > 0) on_heard(credit.epoch());
  for (Feed& feed : feeds_) feed.feed->on_credit(credit);
}

// Lanes that went back to the same view manager flow again.
void RegionQueues::on_heard(uint64_t epoch) {
  for (Lane& lane : lanes_) {
    if (lane.epoch != epoch || lane.stopped || !lane.still_since) continue;
    lane.still_since.reset();
    --lanes_unheard_;
  }
}

void RegionQueues::on_close(const pb::QueueClose& close) {
  if (close.incarnation() != owner_.incarnation.value) return;
  for (Feed& feed : feeds_) {
    const Queue* queue = feed.feed->find_epoch(close.epoch());
    if (queue == nullptr) continue;
    feed.feed->close(queue->slot, StreamFeed::Tell::No);
    activate_ = true;
  }
  reopen_stopped([&](const Lane& lane) { return lane.epoch == close.epoch(); });
}

// ---- lanes that have stopped ---------------------------------------------------------------------------

void RegionQueues::on_stopped(ShardId lane, Position stop) {
  Lane& at = lane_at(lane);
  at.stopped = stop;
  at.committed = state_.committed().at(lane);
  at.committed_since = scheduler_.now();
  stand_still(lane);
  activate_ = true;
}

void RegionQueues::reopen_stopped(const std::function<bool(const Lane& lane)>& is_lost) {
  for (Lane& lane : lanes_) {
    if (!lane.stopped || !is_lost(lane)) continue;
    TM_PROBE("queues: a stopped lane is opened again");
    const std::optional<Micros> still_since = lane.still_since;
    lane = {};
    lane.still_since = still_since;
    activate_ = true;
  }
}

// A message may be lost unnoticed, and no queue is left that would show it: who does not get on is asked
// anew.
void RegionQueues::look_after_stopped() {
  if (lanes_unsettled_ == 0 ||
      scheduler_.now().value - looked_after_stopped_.value < kStoppedPatience.value / 4)
    return;
  looked_after_stopped_ = scheduler_.now();
  for (const LaneRun& run : state_.committed().cover(state_.identity().shards)) {
    for (ShardId lane = run.lanes.begin; lane < run.lanes.end; ++lane.value) {
      Lane& at = lane_at(lane);
      if (!at.stopped || at.committed == run.position) continue;
      at.committed = run.position;
      at.committed_since = scheduler_.now();
    }
  }
  reopen_stopped([&](const Lane& lane) {
    return scheduler_.now().value - lane.committed_since.value >= kStoppedPatience.value;
  });
}

// ---- activation --------------------------------------------------------------------------------------

std::optional<uint8_t> RegionQueues::feed_of(ShardId lane, Position committed) const {
  for (size_t i = 0; i < feeds_.size(); ++i) {
    const FeedIdentity& feed = feeds_[i].feed->identity();
    if (feed.generation == committed.generation && feed.shards.contains(lane)) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

bool RegionQueues::must_move(ShardId lane, const Lane& at, MemberIndex target, std::optional<uint8_t> feed,
                             Position committed) const {
  if (at.member != target) return true;
  if (target == 0) return false;
  if (at.feed != feed) return true;  // Whoever committed past the seal: what it is in brings nothing more.
  if (at.stopped) return committed >= *at.stopped;
  return feeds_[at.feed].feed->slot_of(lane) == 0;  // Its queue was closed.
}

void RegionQueues::activate() {
  activate_ = false;
  lanes_unsettled_ = lanes_unheard_ = 0;
  // Lanes that start before and after a cut do not share a queue: the cut would go through it, and a view
  // manager would take it for the end of lanes that had it behind them.
  std::map<std::tuple<MemberIndex, uint8_t, RingVersion>, std::vector<LaneRun>> opening;
  auto alive = [this](MemberIndex member) { return is_alive(member); };
  Generation own_generation = state_.identity().generation;
  for (const LaneRun& run : state_.committed().cover(state_.identity().shards)) {
    for (ShardId lane = run.lanes.begin; lane < run.lanes.end; ++lane.value) {
      Lane& at = lane_at(lane);
      Position committed = run.position;
      std::optional<uint8_t> feed = feed_of(lane, committed);
      LaneView view{state_.ring_at(lane, committed), state_.ring()};
      MemberIndex target = feed ? active_at(rings_, lane, view, alive) : MemberIndex{0};
      if (must_move(lane, at, target, feed, committed)) {
        // A lane that nobody had is in no feed; the one that it was in last may be dropped by now.
        if (at.member != 0)
          feeds_[at.feed].feed->close_lanes({lane, ShardId{lane.value + 1}}, StreamFeed::Tell::Yes);
        if (target == 0) stand_still(lane);
        const bool returns = at.member == target && !at.stopped;
        if (target != 0 && !returns && at.still_since) note_pause(lane, at);
        Lane next;
        next.member = target;
        next.feed = feed.value_or(0);
        if (target == 0 || returns) next.still_since = at.still_since;
        at = next;
        if (TM_MUTATION("a lane starts at its marker") && committed.generation == own_generation)
          committed = std::max(committed, state_.last_cut(lane));
        if (target != 0) {
          std::vector<LaneRun>& lanes = opening[{target, *feed, view.at_committed}];
          if (!lanes.empty() && lanes.back().lanes.end == lane && lanes.back().position == committed) {
            ++lanes.back().lanes.end.value;
          } else {
            lanes.push_back({{lane, ShardId{lane.value + 1}}, committed});
          }
        }
      }
      bool settled = at.member != 0 && !at.stopped && committed.generation == own_generation;
      lanes_unsettled_ += settled ? 0 : 1;
      lanes_unheard_ += at.member != 0 && !at.stopped && at.still_since ? 1 : 0;
    }
  }
  for (auto& [to, lanes] : opening) open_lanes(std::get<0>(to), std::get<1>(to), std::move(lanes));
  gather_small_queues();
  drop_passed_feeds();
}

void RegionQueues::stand_still(ShardId lane) {
  Lane& at = lane_at(lane);
  if (!at.still_since && at.member != 0) at.still_since = scheduler_.now();
}

// Its view manager is gone.
void RegionQueues::close_queue(Feed& feed, QueueSlot slot) {
  for (ShardRange lanes : feed.feed->lanes_of(slot)) {
    for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
      if (state_.identity().shards.contains(lane)) stand_still(lane);
    }
  }
  feed.feed->close(slot, StreamFeed::Tell::No);
}

void RegionQueues::note_pause(ShardId lane, const Lane& from) {
  if (pauses_ring_ != state_.ring()) {
    pauses_.clear();
    pauses_ring_ = state_.ring();
  }
  const Micros length{scheduler_.now().value - from.still_since->value};
  if (!pauses_.empty() && pauses_.back().lanes.end == lane && pauses_.back().length == length) {
    ++pauses_.back().lanes.end.value;
  } else {
    pauses_.push_back({{lane, ShardId{lane.value + 1}}, length});
  }
}

// Ancestors whose tails every lane has committed past are read no more: their logs may be closed.
void RegionQueues::drop_passed_feeds() {
  if (feeds_.size() == 1) return;
  Position own{state_.identity().generation, Offset{0}, 0};
  if (state_.committed().all_reached(state_.identity().shards, own)) feeds_.resize(1);
}

void RegionQueues::open_lanes(MemberIndex member, uint8_t feed, std::vector<LaneRun> lanes) {
  const ViewManagerDirectory::Bearer& bearer = alive_.at(member);
  ++epoch_;
  for (const LaneRun& run : lanes) {
    for (ShardId lane = run.lanes.begin; lane < run.lanes.end; ++lane.value) lane_at(lane).epoch = epoch_;
  }
  feeds_[feed].feed->open(member, bearer.address, epoch_, state_.ring(), std::move(lanes));
}

// Under how many rings their lanes have committed.
size_t RegionQueues::rings_of(const Feed& feed, const std::vector<QueueSlot>& slots) const {
  std::set<RingVersion> rings;
  for (QueueSlot slot : slots) {
    for (ShardRange lanes : feed.feed->lanes_of(slot)) {
      for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
        if (state_.identity().shards.contains(lane))
          rings.insert(state_.ring_at(lane, state_.committed().at(lane)));
      }
    }
  }
  return rings.size();
}

void RegionQueues::gather_small_queues() {
  for (Feed& each : feeds_) {
    std::map<MemberIndex, std::vector<QueueSlot>> by_member;
    for (QueueSlot slot : each.feed->slots()) by_member[each.feed->find(slot)->member].push_back(slot);
    for (auto& [member, slots] : by_member) {
      if (slots.size() <= options_.queues_per_member_max) continue;
      if (slots.size() <= rings_of(each, slots)) continue;  // As many would be opened again.
      for (QueueSlot slot : slots) each.feed->close(slot, StreamFeed::Tell::Yes);
      activate_ = true;
    }
  }
}

void RegionQueues::pump() {
  look_after_stopped();
  // Routing a cut or a seal may stop lanes that can be activated elsewhere at once.
  for (int turn = 0; turn < 3; ++turn) {
    while (std::exchange(activate_, false)) activate();
    for (Feed& feed : feeds_) feed.feed->pump();
    if (!activate_) break;
  }
}

void RegionQueues::want_told(const std::vector<LaneRun>& wanted) {
  const RegionIdentity& own = state_.identity();
  for (const LaneRun& run : wanted) {
    if (run.lanes.overlaps(own.shards) && run.position.generation == own.generation)
      feeds_.front().feed->want_told(run.position.offset);
  }
}

LaneFloor RegionQueues::pending_floor() {
  StreamFeed& own = *feeds_.front().feed;
  ShardRange shards = state_.identity().shards;
  auto here = [&](Position committed) {
    return committed.generation < state_.identity().generation ? Offset{0} : committed.offset;
  };
  LaneFloor out{Offset{UINT64_MAX}, shards.begin};
  auto lower_to = [&out](Offset floor, ShardId lane) {
    if (floor < out.floor) out = {floor, lane};
  };
  for (QueueSlot slot : own.slots()) {
    LaneFloor lowest{Offset{UINT64_MAX}, shards.begin};
    for (ShardRange lanes : own.lanes_of(slot)) {
      Offset committed = here(state_.committed().lowest(lanes));
      if (committed < lowest.floor) lowest = {committed, lanes.begin};
    }
    if (lowest.floor.value != UINT64_MAX) lower_to(own.pending_floor(slot, lowest.floor), lowest.lane);
  }
  // Nobody reads the others at the moment: what they have not committed is all that is known of them.
  for (const LaneRun& run : state_.committed().cover(shards)) {
    for (ShardId lane = run.lanes.begin; lane < run.lanes.end; ++lane.value) {
      if (own.slot_of(lane) == 0) lower_to(here(run.position), lane);
    }
  }
  return out;
}

RegionQueues::Figures RegionQueues::figures() const {
  Figures out;
  for (const Feed& feed : feeds_) {
    const StreamFeed::Figures& one = feed.feed->figures();
    out.queues += feed.feed->slots().size();
    out.window_bytes += one.window_bytes;
    out.records_read += one.records_read;
    out.messages += one.messages;
    out.entries += one.entries;
  }
  for (const Lane& lane : lanes_) out.lanes_waiting += lane.member == 0 ? 1 : 0;
  return out;
}

}  // namespace tidemark
