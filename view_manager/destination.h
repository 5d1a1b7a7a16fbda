// A destination: a range of shards that is believed to be exactly one part of a region, and the chain of what
// was sent there. Believing wrongly costs a refusal, in which the region tells its parts and positions.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/lane_runs.h"
#include "base/types.h"

namespace tidemark {

struct Destination {
  ShardRange shards;

  // Every effect of the lane before the position has been applied on these shards: told by the region, and
  // true for ever, for a piece of the range too.
  LaneRuns acked;
  // Where the next batch goes on; never behind `acked`. After a refusal, back at `acked`.
  LaneRuns sent;

  // Not to be sent to before the region has said where it is.
  bool asking = true;
  uint64_t asked = 0;  // The question under way; 0: none.
  // Input for it is let go, since it took nothing while memory was short. Always with `asking`: only what a
  // region says of where it is ends it.
  bool parked = false;
  // How many stall_timeouts are waited before: twice as many each time that it has come back, until it
  // answers within one. A region with a slow log would else be parked whenever it is about to answer.
  int64_t patience = 1;
  // In one batch: a single one after "busy", then twice as many with each batch that was applied. While it is
  // less than a batch may have, only one batch is under way.
  uint32_t effects_max = UINT32_MAX;
  Micros hold_until{};  // Busy, or behind with the catalog.

  struct InFlight {
    uint64_t request = 0;
    Micros sent_at;
  };
  std::vector<InFlight> in_flight;
  // Refusals of older requests are no news: what they made us do again is under way.
  uint64_t fresh_from = 0;
  // Since when it has done nothing with what is sent, nor told where it is, though one of them is due; 0:
  // nothing is. Who refuses since it is not the owner, or not yet, has done nothing.
  Micros stalled_since{};
  Micros waits_from{};  // Since when it has said nothing at all.
  bool owes_answer() const { return !in_flight.empty() || asked != 0; }
  void wait(Micros now);   // For what is about to be sent.
  void heard(Micros now);  // It is at work.

  // Per queue (by its serial): entries before these offsets have nothing unsent, or nothing open, for it.
  std::map<uint64_t, Offset> unsent_from;
  std::map<uint64_t, Offset> open_from;
  bool dirty = true;  // There may be something to send.

  void rewind(uint64_t next_request);
  // Nothing more is sent before it has said where it is. Of a slow one even the answer to an earlier question
  // is news: only the first call voids what is out.
  void question(uint64_t next_request, Micros now);
  void forget_queue(uint64_t serial);
};

// All destinations: they cover all shards, in order.
class Destinations {
 public:
  explicit Destinations(ShardCount shards);

  std::vector<Destination>& all() { return all_; }
  const std::vector<Destination>& all() const { return all_; }
  Destination& of(ShardId shard);

  // Calls `fn` for each that overlaps the range, in order.
  void for_overlapping(ShardRange range, const std::function<void(Destination&)>& fn);

  // Parts end where regions do: cuts destinations that nobody has told us about.
  void cut_unknown(const std::vector<ShardRange>& regions);

  struct Part {
    ShardRange shards;
    LaneRuns applied;
  };
  // A region said what its parts are and where: they replace what was believed of the range. What sticks out
  // of it on either side is kept. REQUIRES: the parts are in order, touch and are not empty.
  void learn(const std::vector<Part>& parts, uint64_t next_request);

  // Applied, up to these positions, on these shards.
  void raise(ShardRange shards, const LaneRuns& positions);

 private:
  std::vector<Destination> all_;
};

}  // namespace tidemark
