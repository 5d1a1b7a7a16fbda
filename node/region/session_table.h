// Sessions and request entries: which requests of which client are done, known per shard.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "proto/node.pb.h"
#include "proto/session.h"

namespace tidemark {

// One operation of a request: where it was, and how many rows it affected.
struct OperationOutcome {
  ShardId shard;
  uint32_t rows = 0;
};
void append_outcome(std::string& out, const OperationOutcome& outcome);

enum class SessionKnowledge : uint8_t {
  Unknown,  // On this shard: expired, or never opened. Nothing of it is executed.
  TooLow,   // The request was answered before.
  Fresh,    // Not done on this shard.
  Done,     // Done on this shard: the outcomes were added.
};

// One session: what each stream that it has lived in knew of it.
class Session {
 public:
  // What is known of the request on the shard. Done: its outcomes on the shard, in order, go to `out`.
  SessionKnowledge look_up(uint64_t number, ShardId shard, std::vector<OperationOutcome>& out) const;

 private:
  friend class SessionTable;

  struct Entry {
    uint64_t number = 0;
    std::string outcome;
  };
  struct Holding {
    ShardRange shards;
    uint64_t lowest_unanswered = 0;
    std::deque<Entry> entries;  // By number.
  };

  std::vector<Holding> holdings_;  // By shards; more than one only after a merge.
};

class SessionTable {
 public:
  size_t size() const { return sessions_.size(); }
  const Session* find(const SessionKey& name) const;

  void open(const SessionKey& name, ShardRange shards);
  void expire(const SessionKey& name) { sessions_.erase(name); }

  // The request is done on the shards of `outcome`; what lies below `lowest_unanswered` is forgotten.
  // Nothing happens if the session is not known. False: the outcome is malformed.
  bool mark(const SessionKey& name, uint64_t number, uint64_t lowest_unanswered, std::string_view outcome);

  // What is known of these shards only; and another's knowledge of other shards beside this one's.
  SessionTable restricted(ShardRange shards) const;
  void merge(const SessionTable& other);

  template <typename Visit>
  void for_each_name(Visit visit) const {
    for (const auto& [name, session] : sessions_) visit(name);
  }

  using Messages = google::protobuf::RepeatedPtrField<pb::RegionSnapshot::Session>;
  void to_pb(Messages& out) const;
  static SessionTable from_pb(const Messages& sessions);

 private:
  std::map<SessionKey, Session> sessions_;
};

}  // namespace tidemark
