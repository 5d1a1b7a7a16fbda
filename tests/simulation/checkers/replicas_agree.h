// Whoever holds a region holds the same rows: on the disk of each replica lies what the log up to its
// checkpoint makes, also where nobody reads.
#pragma once

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class ReplicasAgree : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "replicas agree"; }
  void on_settled() override;

 private:
  using Rows = MemoryRowStore::Map;

  // What is durable of a region on its node; nullptr: nothing, or the node is gone for good.
  const MemoryDisk* disk_of(const pb::Replica& replica, RegionId region);
  Rows rows_of(const MemoryDisk& disk, ShardRange shards) const;
};

}  // namespace tidemark::sim
