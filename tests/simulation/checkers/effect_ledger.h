// How far each destination shard has applied each source lane, as the logs tell, whichever region it is in.
// Batches that were sent are remembered, so that each one in a log can be compared with what its sender
// meant. Fed by one checker; read by those of PTO1, PTO2, PTO3 and PTO5.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class EffectLedger {
 public:
  explicit EffectLedger(const Evidence& evidence);

  void on_message(const Address& from, const pb::Message& message);
  void on_record(const SeenRecord& record, const SeenStream& stream);

  // What was wrong with the last record, by property; empty: nothing.
  const std::string& skipped() const { return skipped_; }      // PTO1: positions passed what was not done.
  const std::string& repeated() const { return repeated_; }    // PTO2: not from where it was.
  const std::string& went_back() const { return went_back_; }  // PTO3.
  // PTO5: not from where it was, and the lane has moved to another log or another view manager.
  const std::string& broke_chain() const { return broke_chain_; }

 private:
  // By number; 0: nobody.
  using Sender = uint16_t;

  // A batch that was sent: with effects of one or several of these lanes, after `prev` and not after `to`.
  struct Sent {
    struct Lane {
      ShardId lane;
      Position prev;
    };
    std::vector<Lane> lanes;
    std::set<ShardId> destinations;
    size_t uncommitted = 0;  // Of the lanes.
  };

  Position& applied(ShardId destination, ShardId lane) {
    return applied_[destination.value * shards_.value + lane.value];
  }
  Sender& applied_from(ShardId destination, ShardId lane) {
    return applied_from_[destination.value * shards_.value + lane.value];
  }
  void need(const pb::EffectBatch& batch);
  void check_done(const Sent& batch);
  void follow_chain(const pb::AppliedBatch& batch, ShardRange part, uint64_t to, uint64_t from);
  void apply(const pb::AppliedBatch& batch, ShardRange region);
  void raise(const google::protobuf::RepeatedPtrField<pb::LaneRun>& runs, ShardRange region);
  void commit(const pb::Progress& progress);
  ShardRange range_of(const SeenStream& stream);

  const Evidence& evidence_;
  ShardCount shards_;
  std::vector<Position> applied_;
  std::vector<Sender> applied_from_;  // Who sent what was applied last.
  std::vector<Position> committed_;   // Recorded, per lane.
  std::map<RegionId, ShardRange> ranges_;
  std::map<Address, Sender> senders_;
  std::map<uint64_t, std::map<uint64_t, Sender>> sent_;  // What a batch leads to: from where, as hashes.
  std::map<ShardId, std::multimap<Position, std::shared_ptr<Sent>>> needed_;  // By lane and `to`.
  std::string skipped_, repeated_, went_back_, broke_chain_;
};

}  // namespace tidemark::sim
