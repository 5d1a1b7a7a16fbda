// What a Region wants done. The driver does it in the order of the members and of each vector, and decides
// nothing. Whatever must be durable before it may be sent is held by the region itself until it is: all that
// is in `sends` may go at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/lane_runs.h"
#include "base/types.h"
#include "net/transport.h"
#include "node/region/region_state.h"
#include "wal/record.h"

namespace tidemark {

// Who asked, and by which number the answer is found.
struct Asker {
  Address peer;
  uint64_t request = 0;
  bool operator==(const Asker&) const = default;
};

// To Wal::append(), which returns `at`: the region numbers its records itself.
struct AppendCommand {
  Offset at;
  RecordKind kind = RecordKind::Body;
  std::string payload;
};

struct SendCommand {
  Address to;
  MessagePtr message;
};

// Ask the owners of these lanes (by the region map) for their recorded committed positions, and hand the
// answers to Region::on_committed_positions(). With a position: an owner answers once it is recorded.
struct AskCommitted {
  std::vector<LaneRun> wanted;
};

struct RegionCommands {
  std::vector<AppendCommand> appends;
  std::vector<SendCommand> sends;
  std::vector<DecodedRecord> applied;  // Valid and durable, in order: for the router's queues.
  std::vector<AskCommitted> asks;
  bool refence = false;         // End the incarnation and open again under the newest region map.
  bool status_changed = false;  // Region::status() has news for the coordinator.

  void clear();
  bool empty() const;
};

}  // namespace tidemark
