// Feeds the queues of one stream. Records that have just become durable lie in a bounded window, shared by
// all queues; a queue that is behind the window costs no memory: one shared reader catches up for all that
// are. Lives on the region's loop.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded_scheduler.h"
#include "base/scheduler.h"
#include "net/transport.h"
#include "node/queue/queue.h"
#include "node/queue/rings.h"
#include "proto/log.pb.h"
#include "wal/stream_reader.h"

namespace tidemark {

struct FeedIdentity {
  RegionId region;        // Under which the queues are known: that of the owner.
  Offset incarnation;     // Of the owner.
  StreamId stream;        // That is fed: the region's, or an ancestor's.
  ShardRange shards;      // Of the stream.
  Generation generation;  // Of the stream.
};

struct FeedOptions {
  size_t window_bytes_max = size_t{4} << 20;
  size_t message_bytes_max = size_t{512} << 10;
  size_t unsent_bytes_max = size_t{8} << 20;  // Towards one peer: beyond it nothing more is sent.
  size_t read_bytes = size_t{1} << 20;        // Of the catch-up reader at a time.
  uint64_t silent_records_max =
      256;  // A queue that nothing concerned for so long is told where the stream is.
  size_t queues_per_member_max = 8;  // For one view manager; beyond it they are opened anew as one.
  Micros open_repeat{500'000};
  Micros read_retry{50'000};
  Micros failed_retry{5'000'000};
};

// A valid, durable record.
struct FeedRecord {
  Offset at;
  Offset next;  // Where the stream goes on.
  std::shared_ptr<const pb::RecordBody> body;
  std::shared_ptr<const pb::Seal> seal;
  size_t bytes = 0;
};

class StreamFeed {
 public:
  struct Listener {
    // The lane has met a cut that gives it to another, or the seal: no record at or after `stop` concerns
    // its view manager.
    std::function<void(ShardId lane, Position stop)> on_lane_stopped;
    // The log begins after what a queue needs, or is damaged. It is tried again, and told again.
    std::function<void(const LogFailure&)> on_failed;
    // The lowest committed position of the lanes.
    std::function<Position(ShardRange lanes)> committed;
    // Queues were closed that stood before it, where the log is cut by now: they are to be opened anew.
    std::function<void()> on_passed;
  };
  struct Figures {
    size_t window_bytes = 0;
    uint64_t records_read = 0;  // By the catch-up reader.
    uint64_t messages = 0;
    uint64_t entries = 0;
  };

  // REQUIRES: all that is referred to outlives the feed.
  StreamFeed(FeedIdentity identity, ShardCount shards, const Rings& rings, Scheduler& scheduler,
             Transport& transport, FeedOptions options, Listener listener);
  ~StreamFeed();
  StreamFeed(const StreamFeed&) = delete;
  StreamFeed& operator=(const StreamFeed&) = delete;

  const FeedIdentity& identity() const { return identity_; }

  // The next record of the stream. REQUIRES: in order.
  void push(FeedRecord record);
  // The stream has this end; records before it must be read. For ancestors the seal is the end.
  void set_end(Offset end);

  // From where catching up may read, once known; until then queues behind the window wait.
  void set_source(Log* log, std::function<ReaderState(Offset)> state_at);

  // Opens a queue and says so to the view manager. REQUIRES: the lanes are in no queue of this feed, and
  // their positions are of this stream.
  QueueSlot open(MemberIndex member, const Address& address, uint64_t epoch, RingVersion ring,
                 std::vector<LaneRun> lanes);
  // Takes lanes away; a queue without lanes is closed. `tell`: the view manager hears of it.
  enum class Tell : bool { No, Yes };
  void close_lanes(ShardRange lanes, Tell tell);
  void close(QueueSlot slot, Tell tell);

  const Queue* find_epoch(uint64_t epoch) const;
  const Queue* find(QueueSlot slot) const;
  QueueSlot slot_of(ShardId lane) const;
  std::vector<ShardRange> lanes_of(QueueSlot slot) const;  // Those left, in order.
  std::vector<QueueSlot> slots() const;

  // All changes before it are committed by the queue's lanes, which have committed up to `committed`: those
  // that nothing concerns are not told how far the stream is, and are no further behind for that.
  Offset pending_floor(QueueSlot slot, Offset committed);

  // Somebody waits until all lanes have committed up to there: queues that nothing concerns are told, too.
  void want_told(Offset offset) { wanted_ = std::max(wanted_, offset); }

  void on_credit(const pb::QueueCredit& credit);
  void on_rings_changed();

  // Sends what may be sent. To be called when something changed, and now and then.
  void pump();

  const Figures& figures() const { return figures_; }

 private:
  struct Lane {
    QueueSlot slot = 0;
    Offset start;
  };

  Queue* queue(QueueSlot slot);
  size_t index_of(ShardId lane) const { return lane.value - identity_.shards.begin.value; }
  bool can_send(const Queue& queue) const;
  bool is_behind(const Queue& queue) const { return queue.cursor < window_begin_; }

  bool close_passed();
  void send_open(Queue& queue);
  void send(Queue& queue, std::shared_ptr<pb::Message> message);
  void repeat_opens();
  bool has_done_all(Queue& queue) const;
  void route(const FeedRecord& record);
  void route_changes(const FeedRecord& record, const std::string& changes);
  bool route_cut(const FeedRecord& record, Queue& queue);
  void await(Queue& queue, const FeedRecord& record);
  void route_progress(const FeedRecord& record, Queue& queue);
  void finish_record(const FeedRecord& record, Queue& queue);
  void stop_lanes(Queue& queue, const FeedRecord& record);
  pb::QueueEntry& entry_for(Queue& queue, const FeedRecord& record);
  void tell_silent(Queue& queue);
  void flush(Queue& queue);
  void remove_if_empty(Queue& queue);
  void trim_window();

  void pump_window();
  std::optional<ReaderState> catch_up_from() const;
  void start_catch_up();
  void read_more();
  void on_read(Result<std::vector<JudgedRecord>, LogFailure> records);
  void skip_read(const JudgedRecord& judged);
  bool route_read(const JudgedRecord& judged);
  void fail(const LogFailure& failure);

  FeedIdentity identity_;
  ShardCount shards_;
  const Rings& rings_;
  GuardedScheduler scheduler_;
  Transport& transport_;
  FeedOptions options_;
  Listener listener_;

  std::map<QueueSlot, Queue> queues_;
  std::vector<Queue*> by_slot_;  // For routing: an array read.
  std::vector<Lane> lanes_;      // By shard, from the first of the stream.
  std::vector<Queue*> taking_;   // Queues that take the record being routed, by slot; nullptr if not.

  std::deque<FeedRecord> window_;
  Offset window_begin_;  // All records from here to end_ are in the window.
  Offset end_;
  Offset wanted_;  // Somebody waits until all lanes have committed up to there.

  Log* log_ = nullptr;
  std::function<ReaderState(Offset)> state_at_;
  std::unique_ptr<StreamReader> reader_;
  Offset read_to_;
  bool failed_ = false;  // Just now: nothing is sent until it is tried again.

  Figures figures_;
};

}  // namespace tidemark
