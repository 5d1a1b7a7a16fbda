// The last owner delivers (PTO4): what a region tells a view manager as applied is in its log, under a fence
// that was in force.
#pragma once

#include <map>

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class Pto4LastOwner : public Checker {
 public:
  explicit Pto4LastOwner(Evidence& evidence);
  const char* property() const override { return "PTO4 last owner delivers"; }
  void on_record(const SeenRecord& record, const SeenStream& stream) override;
  void on_message(const Address& from, const Address& to, const pb::Message& message) override;

 private:
  Position& highest(ShardId destination, ShardId lane) {
    return highest_[destination.value * shards_.value + lane.value];
  }
  void note(const google::protobuf::RepeatedPtrField<pb::LaneRun>& runs, ShardRange destinations);
  // A region may tell less than is there, never more.
  void check(const Address& from, const google::protobuf::RepeatedPtrField<pb::LaneRun>& runs,
             ShardRange part);

  ShardCount shards_;
  std::vector<Position> highest_;  // Applied, or raised to, by any record that counts.
};

}  // namespace tidemark::sim
