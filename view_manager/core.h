// The view manager's core: queues in, batches of effects out. It holds no durable state: whatever is lost is
// read again from the lanes' committed positions, and what regions have applied is asked of them. Messages in
// both directions may be lost, doubled, late or reordered.
//
// Deterministic; time comes with tick(). After any event, pump() says what to send.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "net/transport.h"
#include "proto/facts.pb.h"
#include "proto/messages.pb.h"
#include "view_manager/batch_builder.h"
#include "view_manager/destination.h"
#include "view_manager/effect_program.h"
#include "view_manager/limits.h"
#include "view_manager/source_queue.h"

namespace tidemark {

struct Outgoing {
  std::optional<Address> to;  // None: to the owner of the region that has `shard`.
  ShardId shard;
  std::shared_ptr<pb::Message> message;
};

class ViewManagerCore {
 public:
  // `program` must outlive the core. Requests are numbered from `first_request` on.
  ViewManagerCore(ViewManagerId identity, ShardCount shards, EffectProgram& program,
                  const ViewManagerLimits& limits, uint64_t first_request = 1);
  ~ViewManagerCore();

  // ---- events

  void tick(Micros now);
  void on_message(const Address& from, const MessagePtr& message);
  void on_ring(const pb::RingFact& fact);
  void on_regions(const pb::RegionMap& map);

  // Computes, sends, reports and grants what can be now.
  void pump(std::vector<Outgoing>& out);
  // When something is due even if nothing happens. None: never.
  std::optional<Micros> next_tick() const;

  // Is it the number of a request of this core?
  bool asked(uint64_t request) const { return first_request_ <= request && request < next_request_; }

  // ---- figures

  struct Counts {
    uint64_t entries = 0;
    uint64_t changes = 0;
    uint64_t effects = 0;
    uint64_t batches = 0;
    uint64_t applied = 0;
    uint64_t refused = 0;
    uint64_t stale_refusals = 0;
    uint64_t busy = 0;
    uint64_t catalog_behind = 0;
    uint64_t waits_for_catalog = 0;
    uint64_t waits_for_ring = 0;
    uint64_t parked = 0;
    uint64_t unparked = 0;
    uint64_t let_go = 0;  // Effects.
    uint64_t reopened = 0;
    uint64_t malformed = 0;
    uint64_t timeouts = 0;
    uint64_t lanes_stopped = 0;
    uint64_t seals_crossed = 0;
    uint64_t reports = 0;
    uint64_t already_applied = 0;  // Entries that some destination had before we read them.
  };
  const Counts& counts() const { return counts_; }
  const BatchBuilder::Counts& batch_counts() const { return builder_.counts(); }
  size_t effects_bytes() const { return effects_bytes_; }
  size_t pooled_bytes() const;  // Held for the effects of later records.
  size_t input_bytes() const;   // Received and not yet computed and acknowledged.
  size_t queue_count() const { return queues_.size(); }
  size_t parked_count() const;   // Destinations.
  LaneSet lanes() const;         // Of all queues.
  bool idle() const;             // Nothing waits, is open or in flight.
  std::string describe() const;  // For people: queues and destinations.

 private:
  void on(const Address& from, const pb::QueueOpen& open);
  void on(const Address& from, const MessagePtr& message, const pb::QueueRecords& records);
  void on(const Address& from, const pb::QueueClose& close);
  void on(uint64_t request, const pb::EffectAnswer& answer);
  void on(uint64_t request, const pb::Refusal& refusal);

  SourceQueue* find_queue(const Address& from, uint64_t region, uint64_t incarnation, uint64_t epoch);
  void take_lanes(ShardRange lanes);
  void drop_empty_queues();
  bool next_in_sequence(SourceQueue& queue, uint64_t sequence);
  bool knows_ring(RingVersion version) const;
  void drop_input(SourceQueue& queue);
  void reopen(SourceQueue& queue);

  void compute_waiting();
  enum class Step : uint8_t { Done, Waits };
  Step compute_next(SourceQueue& queue);
  bool write_effects(const SourceQueue& queue, const pb::QueueEntry& from, EffectEntry& entry);
  void after_entry(SourceQueue& queue, const pb::QueueEntry& from);
  void catch_up(EffectEntry& entry);
  void let_go_parked(SourceQueue& queue, EffectEntry& entry);
  void mark_dirty(const EffectEntry& entry);
  void stop_lanes(SourceQueue& queue, RingVersion version, Position at);
  void pass_committed(SourceQueue& queue, Position highest);
  void drop_finished_lanes(SourceQueue& queue);

  void apply_positions(ShardRange shards, const LaneRuns& positions);
  void learn(const std::vector<Destinations::Part>& parts);
  bool is_fresh(uint64_t request, ShardRange shards) const;
  void answered(uint64_t request, ShardRange shards);
  void hold(ShardRange shards, uint64_t request, Micros delay);
  bool is_slow(const Destination& destination) const {  // It was busy not long ago.
    return destination.effects_max < limits_.batch_effects_max;
  }
  void settle(SourceQueue& queue);
  void park_stalled();
  void check_silence();

  void send_all(std::vector<Outgoing>& out);
  void ask(Destination& destination, std::vector<Outgoing>& out);
  void report_all(std::vector<Outgoing>& out);
  size_t granted_bytes() const;
  size_t more_credit(const SourceQueue& queue, size_t granted) const;
  bool lacks_credit() const;
  void grant_all(std::vector<Outgoing>& out);
  void close_all(std::vector<Outgoing>& out);

  std::unique_ptr<EffectEntry> take_entry();
  void release(std::unique_ptr<EffectEntry> entry);

  const ViewManagerId identity_;
  const ShardCount shards_;
  EffectProgram& program_;
  const ViewManagerLimits limits_;

  Micros now_{1};
  const uint64_t first_request_;
  uint64_t next_request_;
  uint64_t next_serial_ = 1;
  std::vector<std::unique_ptr<SourceQueue>> queues_;  // In the order of their openings.
  Destinations destinations_;
  BatchBuilder builder_;
  StepCounters steps_;
  size_t effects_bytes_ = 0;
  std::vector<std::unique_ptr<EffectEntry>> pool_;
  std::vector<pb::Ring> rings_;    // By version; those that a cut may name.
  size_t turn_ = 0;                // For fairness among queues.
  std::vector<Outgoing> replies_;  // Made by events, sent by pump().
  Counts counts_;
};

}  // namespace tidemark
