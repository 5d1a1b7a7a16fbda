// One queue towards a view manager: a cursor in a stream, what may still be sent, and the message being put
// together. Its lanes are fixed; lanes that stop or are taken away only become fewer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/lane_runs.h"
#include "base/types.h"
#include "net/transport.h"
#include "node/queue/rings.h"
#include "proto/messages.pb.h"
#include "wal/reader_rule.h"

namespace tidemark {

using QueueSlot = uint16_t;  // Of a feed; 0: none.

struct Queue {
  QueueSlot slot = 0;
  MemberIndex member = 0;
  Address address;
  uint64_t epoch = 0;
  RingVersion ring;
  std::vector<LaneRun> lanes;  // As opened: where each starts.
  uint32_t lanes_left = 0;     // Neither stopped nor taken away.

  Offset cursor;                // Of the next record to look at.
  uint64_t credit = 0;          // In the whole epoch. 0: the view manager has not answered yet.
  uint64_t cost_sent = 0;       // Of the entries put into messages.
  uint64_t sequence = 0;        // Of the last message sent.
  uint64_t heard = 0;           // Of the last one that is known to have come.
  Offset told;                  // The offset after the last entry sent.
  Offset awaited;               // The offset after the last entry that is worth a report when it is passed.
  Offset committed;             // By all lanes, as far as was looked.
  Offset pending_from;          // The first such entry since all were committed.
  Micros looked_after;          // When it was last spoken to, or found to have done all.
  bool waits_for_ring = false;  // The next record is a cut to a ring that is not known here yet.
  bool in_run = false;          // Takes part in the present run of the catch-up reader.
  ReaderState resume;           // Where the last run left it: the next one starts there, not long before.

  std::shared_ptr<pb::Message> building;  // Entries not sent yet.
  size_t building_bytes = 0;
};

}  // namespace tidemark
