#include "tests/simulation/checkers/replicas_agree.h"

#include <map>

#include "node/store/store_key.h"
#include "proto/convert.h"
#include "proto/facts.pb.h"

namespace tidemark::sim {

const MemoryDisk* ReplicasAgree::disk_of(const pb::Replica& replica, RegionId region) {
  for (int i = 0; i < evidence_.cluster.node_count(); ++i) {
    const SimProcess& node = evidence_.cluster.node(i);
    if (node.name() != replica.node() || !node.running()) continue;
    const MemoryDisk& disk = evidence_.cluster.disk(i);
    const auto found = disk.checkpoints().find(region);
    if (found == disk.checkpoints().end() || found->second.joined.value != replica.joined()) return nullptr;
    return &disk;
  }
  return nullptr;
}

ReplicasAgree::Rows ReplicasAgree::rows_of(const MemoryDisk& disk, ShardRange shards) const {
  Rows rows;
  for (const auto& [key, row] : disk.rows().all()) {
    const uint64_t hash = decode_store_key(key)->hash;
    if (shards.contains(evidence_.cluster.options().shards.shard_of(hash))) rows.emplace(key, row);
  }
  return rows;
}

void ReplicasAgree::on_settled() {
  const pb::RegionMap map = evidence_.cluster.region_map();
  for (const pb::RegionEntry& entry : map.regions()) {
    if (entry.sealed()) continue;  // Its rows are its children's, which others may hold.
    const RegionId region{entry.region()};
    std::map<Offset, std::pair<std::string, Rows>> first;  // By how far the log is in the checkpoint.
    for (const pb::Replica& replica : entry.replicas()) {
      const MemoryDisk* disk = disk_of(replica, region);
      if (disk == nullptr) continue;
      Rows rows = rows_of(*disk, from_pb(entry.shards()));
      const auto [other, is_first] =
          first.try_emplace(disk->checkpoints().at(region).reader.next, replica.node(), rows);
      if (is_first || other->second.second == rows) continue;
      violated("region " + std::to_string(region.value) + " has other rows on " + replica.node() +
               " than on " + other->second.first);
    }
    if (first.size() > 1)
      violated("replicas of region " + std::to_string(region.value) +
               " have saved it up to different records");
  }
}

}  // namespace tidemark::sim
