// Writes in flight: numbers them, keeps the sessions under which they are sent, and brings each to an end.
// A write is sent as one piece per region and session; pieces are cut anew when regions split, merge or
// move, and the regions' entries per (session, number, shard) keep each operation from being done twice.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "net/client.h"
#include "net/request_table.h"
#include "proto/messages.pb.h"
#include "proto/session.h"

namespace tidemark {

// Which session is known on which shards.
class SessionsByShard {
 public:
  std::optional<SessionKey> find(ShardId shard) const;
  void set(ShardRange shards, SessionKey session);
  void forget(SessionKey session);

 private:
  struct Known {
    ShardRange shards;
    SessionKey session;
  };
  std::vector<Known> known_;  // The newest last; it wins.
};

class WriteTracker {
 public:
  // `seen` is raised to where in the regions' logs the writes are, as their answers tell.
  WriteTracker(Scheduler& scheduler, RequestTable& requests, RegionDirectory& directory, Random& random,
               const ClientOptions& options, LaneRuns& seen);

  void write(WriteBatch batch, CatalogVersion catalog, Atomicity atomicity, Client::Done<WriteOutcome> done);

 private:
  struct OperationState {
    bool ended = false;
    bool assigned = false;  // It belongs to a piece that is on its way.
    uint32_t attempts = 0;  // Sent and not known to be undone: each may have been done, or may yet be.
    std::optional<SessionKey> session;
    uint32_t rows_affected = 0;
  };
  struct Write {
    WriteBatch batch;
    CatalogVersion catalog;
    Micros deadline{};
    Atomicity atomicity = Atomicity::PerRegion;
    std::vector<OperationState> states;
    size_t left = 0;
    LaneRuns tokens;
    std::optional<ClientFailure> failure;
    Client::Done<WriteOutcome> done;
  };
  using Indexes = std::vector<size_t>;  // Of operations of one write.

  ShardId shard_of(const Write& write, size_t index) const;
  void dispatch(uint64_t number);
  bool is_on_its_way(const Write& write) const;
  bool ended_by_regions(uint64_t number);
  void unite_sessions(uint64_t number);
  bool may_be_done(const Write& write) const;
  void end_whole(uint64_t number, ClientFailure failure);
  void send_piece(uint64_t number, Indexes indexes);
  MessagePtr make_piece(uint64_t number, const Indexes& indexes, uint64_t id, Address& to);
  void on_answer(uint64_t number, const Indexes& indexes, const pb::Message& answer);
  void on_undone(uint64_t number, const Indexes& indexes);
  // Whether no attempt but the one that has just been answered may be done.
  bool is_only_attempt(const Write& write, const Indexes& indexes) const;
  // `failure` as told of one attempt, or that the outcome is unknown if another one may be done.
  ClientFailure honest(const Write& write, const Indexes& indexes, ClientFailure failure) const;
  void on_expired(uint64_t number, const Indexes& indexes);
  void on_deadline(uint64_t number, const Indexes& indexes);
  void end(uint64_t number, const Indexes& indexes, std::optional<ClientFailure> failure);
  void open_session(ShardId shard, Micros deadline);

  GuardedScheduler scheduler_;
  RequestTable& requests_;
  RegionDirectory& directory_;
  Random& random_;
  const ClientOptions& options_;
  LaneRuns& seen_;
  SessionsByShard sessions_;
  std::set<RegionId> opening_;
  std::map<uint64_t, Write> writes_;  // By number: the first is the lowest unanswered.
  uint64_t next_number_ = 1;
};

}  // namespace tidemark
