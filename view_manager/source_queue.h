// A queue: some lanes of one stream, read from their committed positions on. It keeps the computed effects of
// its entries until they are acknowledged, and knows how far its lanes have committed: as a prefix of the
// stream, for all lanes at once.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/lane_runs.h"
#include "base/types.h"
#include "net/transport.h"
#include "proto/messages.pb.h"
#include "view_manager/entry.h"
#include "view_manager/lane_set.h"

namespace tidemark {

struct QueueName {
  Address opener;  // The lanes' owner: reports and credits go there.
  RegionId region;
  uint64_t incarnation = 0;
  uint64_t epoch = 0;
};

class SourceQueue {
 public:
  // REQUIRES: every lane lies in `shards` and starts in `generation`.
  SourceQueue(uint64_t serial, QueueName name, Generation generation, ShardRange shards,
              const std::vector<LaneRun>& lanes);

  uint64_t serial() const { return serial_; }  // Unique and growing: the order of openings here.
  const QueueName& name() const { return name_; }
  Generation generation() const { return generation_; }
  ShardRange shards() const { return shards_; }

  // ---- lanes

  const LaneSet& lanes() const { return lanes_; }  // Stopped ones too, until they are taken away.
  void remove_lanes(ShardRange lanes);             // And what is open of them.
  // From the position on the lanes are another's: nothing more is read for them.
  void stop_lanes(ShardRange lanes, Position at);
  Position stop_of(ShardId lane) const;  // Past everything, if it has not stopped.
  std::vector<LaneRun> stops(ShardRange lanes) const { return stops_.cover(lanes); }

  // Committed as recorded in the stream.
  const LaneRuns& floors() const { return floors_; }
  void raise_floor(ShardRange lanes, Position position);

  // Does the lane want effects of the record, and from which step on?
  bool wants(ShardId lane, Offset offset) const;
  uint32_t first_step(ShardId lane, Offset offset) const;

  // ---- input not yet computed

  struct Waiting {
    MessagePtr message;
    int index = 0;
    const pb::QueueEntry& entry() const;
  };
  std::deque<Waiting>& waiting() { return waiting_; }
  const std::deque<Waiting>& waiting() const { return waiting_; }

  uint64_t sequence_next = 1;
  // The input has a hole: asked for anew, and nothing of it is used any more.
  bool reopening = false;
  Micros repeat_at{};       // What may have been lost is sent again then.
  uint32_t unanswered = 0;  // Repetitions since the owner was last heard.
  // Some destination may have applied more than the lanes' starts, up to here.
  Position catch_up_until{};

  // ---- entries

  using Entries = std::deque<std::unique_ptr<EffectEntry>>;
  const Entries& entries() const { return entries_; }
  // Index of the first entry at or after the offset.
  size_t entry_at(Offset offset) const;
  void push(std::unique_ptr<EffectEntry> entry);
  std::unique_ptr<EffectEntry> pop_done();  // None: the first one is still open, or there is none.
  // Input for a parked destination was let go: the lanes commit no further than here until a new queue.
  void pin(Offset offset);
  bool pinned() const { return pinned_.has_value(); }
  void cross_seal(Generation generation) { sealed_to_ = generation; }
  bool sealed() const { return sealed_to_.has_value(); }
  Offset read_end() const { return read_end_; }
  void drop_input();  // All of it: it is read again through a new queue.

  // Every effect before it is acknowledged.
  Position committed() const;
  // What a report would say: lanes that have committed past what is recorded.
  std::vector<LaneRun> unrecorded() const;

  // ---- credit: totals since the opening

  size_t granted = 0;
  std::deque<size_t> grants;  // The first is the least that the owner must know of; the last is `granted`.
  size_t received = 0;
  size_t released = 0;
  void grant(size_t total);
  void receive(size_t cost);
  // That may come, or has come and is not released.
  size_t outstanding() const { return reopening || granted < released ? 0 : granted - released; }
  // If the later credits were lost, the owner has nothing left to go on with.
  bool may_lack_credit() const { return !reopening && grants.size() > 1 && received >= grants.front(); }

  // ---- reports

  // The last position worth recording that the lanes have committed; reported until it is recorded.
  Position must_record{};
  bool report_hint = false;
  Micros report_at{};    // Not before.
  Micros reported_at{};  // Last.
  bool needs_report() const;

 private:
  enum class LaneState : uint8_t { Absent, Active, Stopped };
  LaneState& state(ShardId lane) { return states_[lane.value - shards_.begin.value]; }

  const uint64_t serial_;
  const QueueName name_;
  const Generation generation_;
  const ShardRange shards_;

  LaneSet lanes_;
  std::vector<LaneState> states_;  // Per shard of the stream: asked for every change.
  LaneRuns starts_;
  Offset all_started_at_;  // From this record on no lane's start matters.
  LaneRuns floors_;
  LaneRuns stops_;  // Lanes at zero have not stopped.

  std::deque<Waiting> waiting_;
  Entries entries_;
  Offset read_end_;  // All before it is computed.
  std::optional<Offset> pinned_;
  std::optional<Generation> sealed_to_;
};

}  // namespace tidemark
