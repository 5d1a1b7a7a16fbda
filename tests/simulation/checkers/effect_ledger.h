// How far each destination shard has applied each source lane, as the logs tell, whichever region it is in.
// Batches that were sent are remembered, so that each one in a log can be compared with what its sender
// meant. Fed by one checker; read by those of PTO1, PTO2, PTO3 and PTO5.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class EffectLedger {
 public:
  explicit EffectLedger(const Evidence& evidence);

  void on_message(const pb::Message& message);
  void on_record(const SeenRecord& record, const SeenStream& stream);

  // What was wrong with the last record, by property; empty: nothing.
  const std::string& skipped() const { return skipped_; }      // PTO1: positions passed what was not done.
  const std::string& repeated() const { return repeated_; }    // PTO2: not from where it was.
  const std::string& went_back() const { return went_back_; }  // PTO3.
  const std::string& broke_chain() const { return broke_chain_; }  // PTO5: from another generation.

 private:
  // A batch was sent with effects between the two positions, the last of them perhaps well before `to`.
  struct Needed {
    Position to;
    Position prev;
    ShardId destination;
    bool operator<(const Needed& other) const { return to < other.to; }
  };

  Position& applied(ShardId destination, ShardId lane) {
    return applied_[destination.value * shards_.value + lane.value];
  }
  void apply(const pb::AppliedBatch& batch, ShardRange region);
  void raise(const google::protobuf::RepeatedPtrField<pb::LaneRun>& runs, ShardRange region);
  void commit(const pb::Progress& progress);
  ShardRange range_of(const SeenStream& stream);

  const Evidence& evidence_;
  ShardCount shards_;
  std::vector<Position> applied_;
  std::vector<Position> committed_;  // Recorded, per lane.
  std::map<RegionId, ShardRange> ranges_;
  std::map<uint64_t, std::set<uint64_t>> sent_;      // What a batch leads to: from where, as hashes.
  std::map<ShardId, std::multiset<Needed>> needed_;  // Sent, with effects, per lane.
  std::string skipped_, repeated_, went_back_, broke_chain_;
};

}  // namespace tidemark::sim
