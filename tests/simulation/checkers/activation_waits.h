// A lane that moves is given to its new view manager only when it has committed past the marker
// (docs/protocols.md, "Add view manager", step 5): until then it stays with the one whom the ring in force at
// its committed position names. Checked in runs in which nobody fails, since the dead are not waited for, and
// who is thought dead depends on when one looks. For the same reason not for those that have just come into a
// ring: a node may have read the ring and not yet heard of them, and takes them for dead.
#pragma once

#include <map>
#include <vector>

#include "proto/facts.pb.h"
#include "tests/simulation/checker.h"

namespace tidemark::sim {

class ActivationWaits : public Checker {
 public:
  explicit ActivationWaits(Evidence& evidence);
  const char* property() const override { return "activation waits for markers"; }
  void on_record(const SeenRecord& record, const SeenStream& stream) override;
  void on_fact_written(SessionNumber session, const std::string& path, const std::string& data) override;
  void on_message(const Address& from, const Address& to, const pb::Message& message) override;

 private:
  bool nobody_fails() const;
  void note(const pb::Ring& ring, Micros written);
  // 0: before the first cut.
  uint64_t ring_at(ShardId lane, Position position) const;
  std::string owner(uint64_t ring, ShardId lane) const;
  bool all_have_heard_of(const std::string& member) const;

  std::map<uint64_t, pb::Ring> rings_;
  std::vector<std::map<Position, uint64_t>> cuts_;  // Per lane: after the cut, its ring.
  std::map<RegionId, ShardRange> ranges_;
  std::map<std::string, Micros> named_;  // Since when members are in a ring.
};

}  // namespace tidemark::sim
