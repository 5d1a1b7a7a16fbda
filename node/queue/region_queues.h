// The queues of an owned region: which lane goes to which view manager, from its own stream or, where the
// lane has not committed past a seal yet, from an ancestor's. Exists as long as the owner's incarnation.
// Lives on the region's loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/guarded_scheduler.h"
#include "node/lag_meter.h"
#include "node/queue/activation.h"
#include "node/queue/stream_feed.h"
#include "node/reader_history.h"
#include "node/region/region_state.h"
#include "node/store/checkpoint.h"
#include "proto/messages.pb.h"

namespace tidemark {

// Who bears each view manager's identity now.
class ViewManagerDirectory {
 public:
  virtual ~ViewManagerDirectory() = default;
  struct Bearer {
    Address address;
    uint64_t boot = 0;
  };
  virtual std::optional<Bearer> bearer(const std::string& identity) const = 0;
};

class RegionQueues {
 public:
  struct Owner {
    StreamId stream;
    Offset incarnation;
    Log* log = nullptr;                            // The region's own.
    std::function<ReaderState(Offset)> reader_at;  // Of the region's own.
    // Opens an ancestor's log.
    std::function<void(StreamId, std::function<void(Result<std::shared_ptr<Log>, LogFailure>)>)> open_log;
    std::function<void(const std::string&)> say;
  };
  struct Figures {
    size_t queues = 0;
    size_t window_bytes = 0;
    uint64_t records_read = 0;
    uint64_t messages = 0;
    uint64_t entries = 0;
    size_t lanes_waiting = 0;  // Not active at any view manager.
  };

  // REQUIRES: all that is referred to outlives it. `state` is the region's, as of the last record applied.
  RegionQueues(const RegionState& state, Owner owner, const std::vector<Ancestor>& ancestors,
               const Rings& rings, const ViewManagerDirectory& view_managers, Scheduler& scheduler,
               Transport& transport, FeedOptions options);
  ~RegionQueues();

  // A record was applied; `state` has it.
  void on_applied(FeedRecord record);

  // The ring, its policy, or who is alive has changed.
  void on_members_changed();
  void on_disconnect(const Address& peer);
  void on_credit(const pb::QueueCredit& credit);
  void on_close(const pb::QueueClose& close);  // From a view manager: open it anew.

  // Activates, closes, sends. At the end of a turn with news, and every tick_interval.
  void pump();

  // Somebody waits until these lanes have committed as far.
  void want_told(const std::vector<LaneRun>& wanted);

  Figures figures() const;
  // Of the region's own stream.
  LaneFloor pending_floor();

  // Lanes that went to another view manager under the newest ring: how long they were in no queue, from the
  // cut, or from the end of the queue of one that died, until the queue of the other was opened. That the
  // queue of one that is dead, but not known to be, was opened again and again meanwhile does not count.
  struct Pause {
    ShardRange lanes;
    Micros length;
  };
  const std::vector<Pause>& pauses() const { return pauses_; }
  RingVersion pauses_ring() const { return pauses_ring_; }

 private:
  struct Lane {
    MemberIndex member = 0;  // Whose queue it is in, or was in when it stopped.
    uint8_t feed = 0;        // By index.
    std::optional<Position> stopped;
    std::optional<Micros> still_since;  // Also in a queue, if it is opened again and nothing was heard yet.
    uint64_t epoch = 0;                 // Under which it was opened.
    Position committed;                 // Stopped: how far it was when ...
    Micros committed_since;             // ... it last moved.
  };
  struct Feed {
    std::unique_ptr<StreamFeed> feed;
    std::shared_ptr<Log> log;  // Of an ancestor.
  };

  void add_ancestor(const Ancestor& ancestor);
  void open_ancestor(size_t feed, std::shared_ptr<ReaderHistory> history);
  // Lanes that have stopped are in no queue here any more, but their view manager still works on what it was
  // sent. If that is lost, they are opened again.
  void reopen_stopped(const std::function<bool(const Lane& lane)>& is_lost);
  void look_after_stopped();
  void on_stopped(ShardId lane, Position stop);
  void listen(StreamFeed::Listener& listener, StreamId stream);
  void activate();
  bool must_move(ShardId lane, const Lane& at, MemberIndex target, std::optional<uint8_t> feed,
                 Position committed) const;
  std::optional<uint8_t> feed_of(ShardId lane, Position committed) const;
  void stand_still(ShardId lane);
  void close_queue(Feed& feed, QueueSlot slot);
  void note_pause(ShardId lane, const Lane& from);
  void on_heard(uint64_t epoch);
  void open_lanes(MemberIndex member, uint8_t feed, std::vector<LaneRun> lanes);
  size_t rings_of(const Feed& feed, const std::vector<QueueSlot>& slots) const;
  void gather_small_queues();
  void drop_passed_feeds();
  bool is_alive(MemberIndex member) const;
  void learn_members();
  Lane& lane_at(ShardId lane);

  const RegionState& state_;
  Owner owner_;
  const Rings& rings_;
  const ViewManagerDirectory& view_managers_;
  GuardedScheduler scheduler_;
  Transport& transport_;
  FeedOptions options_;

  std::vector<Feed> feeds_;  // The first is the region's own.
  std::vector<Lane> lanes_;
  std::map<MemberIndex, ViewManagerDirectory::Bearer> alive_;
  uint64_t epoch_ = 0;
  size_t lanes_unsettled_ = 0;  // Waiting, stopped or in an ancestor's stream: progress may free them.
  size_t lanes_unheard_ = 0;    // In a queue again, at the same view manager, that did not answer yet.
  bool activate_ = true;
  std::vector<Pause> pauses_;
  RingVersion pauses_ring_;
  Micros looked_after_stopped_;
};

}  // namespace tidemark
