// One region as this node holds it: the glue between its stream (Wal), its core (Region) and its queues.
// It tails; while the region map names this node the owner, it opens the stream and serves; whatever ends the
// incarnation, it tails again and, if the map still names it, opens again. Lives on the node's loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/guarded_scheduler.h"
#include "base/random.h"
#include "base/wakeup.h"
#include "net/transport.h"
#include "node/log_handles.h"
#include "node/node_metrics.h"
#include "node/options.h"
#include "node/queue/region_queues.h"
#include "node/reader_history.h"
#include "node/region/region.h"
#include "node/region_meter.h"
#include "node/store/checkpoint.h"
#include "wal/wal.h"

namespace tidemark {

// What a replica needs of its node. All outlive it.
struct ReplicaContext {
  const NodeOptions& options;
  Scheduler& scheduler;
  Transport& transport;
  Random& random;
  LogStore& logs;
  LogHandles& handles;
  RowStore& rows;
  RowArithmetic& arithmetic;
  const Rings& rings;
  const ViewManagerDirectory& view_managers;
  NodeMetrics& metrics;
};

class RegionReplica : private WalListener {
 public:
  struct Listener {
    std::function<void(RegionId)> on_sealed;       // All of the stream was read: children can be built.
    std::function<void(RegionId)> on_status;       // There is news for the coordinator.
    std::function<void(RegionId)> on_map_doubted;  // The region map may have moved on.
    // The stream can not be used from where this replica stands. Final for this replica.
    std::function<void(RegionId, LogFailure)> on_failed;
    std::function<void(RegionId, const AskCommitted&)> on_ask_committed;
  };
  struct Origin {
    MapVersion map_version;  // Of the newest map acted upon so far.
    MapVersion joined;
    std::vector<ReaderState> readers;
    std::vector<Ancestor> ancestors;
    bool create_stream = false;  // It starts at the beginning: the stream may not be there yet.
  };

  RegionReplica(ReplicaContext context, RegionState state, Origin origin, Listener listener);
  ~RegionReplica() override;

  // ---- facts

  // Of the newest map; older ones than this replica has acted upon are ignored.
  void on_facts(const RegionFacts& facts);
  void on_catalog(std::shared_ptr<const pb::Catalog> catalog);
  void on_rings_changed();
  void on_view_managers_changed();
  void on_disconnect(const Address& peer);

  // ---- messages. True: it was one for a region.

  bool on_message(const Address& from, const pb::Message& message);
  void on_committed_positions(const std::vector<LaneRun>& lanes);

  // To be called now and then: without room for more rows, whoever waits for it is not told when it is there.
  // Meanwhile clients are refused, effects are not answered, and no log is read.
  void check_room();

  // Discards what every replica and lane is past, as the region map says.
  void trim_to(Offset floor);

  // ---- what it is

  RegionId id() const { return region_.state().identity().region; }
  const RegionState& state() const { return region_.state(); }
  MapVersion joined() const { return joined_; }
  MapVersion map_version() const { return map_version_; }
  bool owning() const { return region_.owning(); }
  bool sealed() const { return region_.state().seal().has_value(); }
  bool caught_up() const { return caught_up_; }
  // A record could not be applied, or only half of it: there is no checkpoint of this.
  bool damaged() const { return damaged_; }
  std::optional<Offset> incarnation() const { return incarnation_; }

  // As of the last record applied: the rows of the store are at least as new.
  Checkpoint checkpoint();
  // What a child must know of this stream.
  std::vector<Ancestor> ancestry() const;
  // About once a second: for figures that tell how fast something goes.
  void sample() { meter_.sample(region_.state(), pending_floor(), scheduler_.now()); }
  // Without what the node knows of checkpoints.
  pb::RegionStatus status() const;
  std::optional<RegionQueues::Figures> queue_figures() const;
  Lag lag() const { return meter_.lag(pending_floor(), time_of_day(), parents_records()); }
  struct LogFigures {
    uint64_t records = 0;
    uint64_t bytes = 0;  // Of their payloads.
  };
  // What the stream has brought since the replica was made.
  const LogFigures& log_figures() const { return log_figures_; }

 private:
  // WalListener.
  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override;
  void on_opened(Offset incarnation) override;
  void on_ended(EndReason reason) override;
  void on_caught_up(Offset end) override;
  void on_failed(const LogFailure& failure) override;
  void on_waiting(const LogFailure& why) override;

  void open_log(bool create);
  void start_tailing(std::shared_ptr<Log> log);
  void retry_log(const LogFailure& failure, bool create);
  void fail(const LogFailure& failure);

  void hand_facts();
  void reconsider();
  void reconsider_after(Micros delay);
  void create_children_streams();
  bool children_streams_there() const;
  void remove_unused_streams(const std::optional<pb::RegionChange>& change);

  void perform();
  void measure(const DecodedRecord& applied);
  void append_pending();
  void schedule_turn();
  void end_turn();
  void keep_pumping();
  void want_told(const google::protobuf::RepeatedPtrField<pb::LaneRun>& wanted);
  void drop_passed();
  int64_t time_of_day() const;
  LaneFloor pending_floor() const {
    return queues_ ? queues_->pending_floor() : recorded_floor(region_.state());
  }
  uint64_t parents_records() const;
  StreamId stream() const { return {context_.options.cluster, id()}; }
  std::string name() const;

  ReplicaContext context_;
  Listener listener_;
  GuardedScheduler scheduler_;
  Region region_;
  RegionMeter meter_;
  MapVersion map_version_;
  MapVersion joined_;
  ReaderHistory history_;
  std::vector<Ancestor> ancestors_;

  std::unique_ptr<Wal> wal_;
  bool failed_ = false;
  bool damaged_ = false;
  bool caught_up_ = false;
  std::optional<MapVersion> opening_version_;  // Of the map under which open() was called.
  std::optional<MapVersion> refused_version_;  // A newer fence is there: only a newer map helps.
  std::optional<Offset> incarnation_;
  bool waits_to_reopen_ = false;

  std::optional<RegionFacts> facts_;
  std::set<RegionId> streams_created_;
  std::set<RegionId> streams_asked_;  // To be made, of children that are not born yet.
  bool creating_streams_ = false;

  RegionCommands out_;
  std::deque<AppendCommand> appends_;  // Not yet taken by the Wal.
  size_t record_bytes_ = 0;            // Of the record being applied.
  Offset record_next_;
  std::deque<std::pair<Offset, Micros>>
      appended_at_;  // Own records handed to the log, until they are durable.
  LogFigures log_figures_;
  std::unique_ptr<RegionQueues> queues_;  // While owning.
  bool turn_posted_ = false;
  Wakeup tick_;
};

}  // namespace tidemark
