// Checkpoints on their way from a region's owner to a standby. The standby asks for one chunk after another;
// what is lost on the way it asks for again. The state is taken when the first chunk is asked for, and the
// rows are read while the region goes on: they may be ahead of the state, and the standby replays.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/guarded_scheduler.h"
#include "net/transport.h"
#include "node/region_set.h"
#include "proto/messages.pb.h"

namespace tidemark {

// The owner's end.
class SeedSender {
 public:
  SeedSender(const NodeOptions& options, const ClusterView& view, RegionSet& regions, RowStore& rows,
             Transport& transport);

  // The standby has everything before `index`.
  void on_ack(const Address& from, const pb::CheckpointAck& ack);
  void on_disconnect(const Address& peer);

 private:
  struct Sending {
    Checkpoint checkpoint;
    uint64_t name = 0;   // Larger than that of any earlier one of the region.
    uint64_t next = 0;   // The chunk to make next.
    TableId table;       // Where the reading of rows goes on ...
    std::string cursor;  // ... after this store key; empty: at the table's beginning.
    bool rows_done = false;
    std::string state;      // The encoded checkpoint, once the rows are done ...
    size_t state_sent = 0;  // ... and how much of it was put into chunks.
    bool done = false;
    MessagePtr last;  // Sent, in case it was lost.
  };

  bool is_member(RegionId region, MapVersion joined) const;
  Sending begin(RegionReplica& replica, MapVersion joined);
  MessagePtr next_chunk(Sending& sending);
  void read_rows(Sending& sending, std::string& out);
  void read_state(Sending& sending, std::string& out);

  const NodeOptions& options_;
  const ClusterView& view_;
  RegionSet& regions_;
  RowStore& rows_;
  Transport& transport_;
  uint64_t begun_ = 0;
  std::map<std::pair<RegionId, Address>, Sending> sending_;
};

// The standby's end.
class SeedReceiver {
 public:
  SeedReceiver(const NodeOptions& options, const ClusterView& view, RegionSet& regions, RowStore& rows,
               Scheduler& scheduler, Transport& transport);

  // Asks the owners of regions that wait for a checkpoint. Repeats itself.
  void ask();
  void on_chunk(const Address& from, const pb::CheckpointChunk& chunk);

 private:
  struct Receiving {
    MapVersion joined;
    Micros heard_at;
    Address from;          // The owner that was asked. Whoever owned the region before may still be sending.
    uint64_t sending = 0;  // Which of its sendings the chunks before `next` are of; earlier ones will not do.
    uint64_t next = 0;
    std::string state;  // As much of it as has come.
  };

  void send_ack(RegionId region, Receiving& receiving);
  void want_another(Receiving& receiving);
  bool take_rows(std::string_view rows);

  const NodeOptions& options_;
  const ClusterView& view_;
  RegionSet& regions_;
  RowStore& rows_;
  GuardedScheduler scheduler_;
  Transport& transport_;
  std::map<RegionId, Receiving> receiving_;
};

}  // namespace tidemark
