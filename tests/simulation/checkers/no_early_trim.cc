#include "tests/simulation/checkers/no_early_trim.h"

#include <algorithm>
#include <sstream>

#include "proto/convert.h"
#include "proto/facts.pb.h"

namespace tidemark::sim {

NoEarlyTrim::NoEarlyTrim(Evidence& evidence)
    : Checker(evidence), committed_(evidence.cluster.options().shards.value) {}

void NoEarlyTrim::on_record(const SeenRecord& record, const SeenStream& stream) {
  if (!ranges_.contains(stream.region)) {
    const pb::RegionMap known = evidence_.cluster.region_map();
    for (const pb::RegionEntry& entry : known.regions())
      ranges_[RegionId{entry.region()}] = from_pb(entry.shards());
  }
  if (!record.body || !record.body->has_progress()) return;
  for (const pb::LaneRun& run : record.body->progress().committed()) {
    for (uint32_t lane = run.lanes().begin(); lane < run.lanes().end(); ++lane)
      committed_[lane] = std::max(committed_[lane], from_pb(run.position()));
  }
}

// Durable ones, on any node, that need nothing before the offset.
size_t NoEarlyTrim::checkpoints(RegionId region, Offset least) const {
  size_t count = 0;
  for (int i = 0; i < evidence_.cluster.node_count(); ++i) {
    const auto& found = static_cast<const SimCluster&>(evidence_.cluster).disk(i).checkpoints();
    const auto checkpoint = found.find(region);
    if (checkpoint != found.end() && checkpoint->second.reader.next >= least) ++count;
  }
  return count;
}

std::string NoEarlyTrim::who_needs_more(const pb::RegionEntry& region, Offset least) const {
  for (const pb::Replica& replica : region.replicas()) {
    for (int i = 0; i < evidence_.cluster.node_count(); ++i) {
      if (evidence_.cluster.node(i).name() != replica.node()) continue;
      if (evidence_.cluster.has_lost_disk(replica.node())) continue;  // Nobody may know it yet.
      const auto& found = evidence_.cluster.disk(i).checkpoints();
      const auto checkpoint = found.find(RegionId{region.region()});
      // One of an earlier membership is not used.
      const bool has = checkpoint != found.end() && checkpoint->second.joined.value == replica.joined();
      if (has && checkpoint->second.reader.next >= least) continue;
      // One that has just joined reads no log: it is sent a checkpoint.
      if (has || replica.joined() == region.born()) return replica.node();
    }
  }
  return "";
}

void NoEarlyTrim::on_trimmed(const SeenStream& stream, Offset begin) {
  std::ostringstream what;
  what << "stream " << stream.region << " is cut to " << begin;
  const pb::RegionMap now = evidence_.cluster.region_map();
  for (const pb::RegionEntry& entry : now.regions()) {
    if (entry.region() != stream.region.value) continue;
    for (uint32_t lane = entry.shards().begin(); lane < entry.shards().end(); ++lane) {
      const Position next{stream.generation, begin, 0};
      if (committed_[lane] >= next) continue;
      what << ", but lane " << lane << " has committed only up to " << committed_[lane];
      return violated(what.str());
    }
    if (const std::string who = who_needs_more(entry, begin); !who.empty()) {
      what << ", but replica " << who << " has no checkpoint there";
      return violated(what.str());
    }
  }
  if (checkpoints(stream.region, begin) >= needed()) return;
  what << " with fewer than " << needed() << " durable checkpoints";
  violated(what.str());
}

void NoEarlyTrim::on_removed(const SeenStream& stream) {
  std::ostringstream what;
  what << "stream " << stream.region << " is removed";
  if (!stream.sealed) {
    // Of a change that was called off: it may have a fence, but nothing was done in it.
    const bool used = std::any_of(stream.records.begin(), stream.records.end(), [](const SeenRecord& record) {
      return record.counts && record.body && record.body->has_commit();
    });
    if (used) violated(what.str() + ", though it is not sealed");
    return;
  }
  const auto sealing = std::find_if(stream.records.begin(), stream.records.end(),
                                    [](const SeenRecord& record) { return record.seal != nullptr; });
  const Position after{Generation{sealing->seal->generation()}, Offset{0}, 0};
  const ShardRange lanes = ranges_[stream.region];
  for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
    if (committed_[lane.value] >= after) continue;
    what << ", but lane " << lane << " has committed only up to " << committed_[lane.value];
    return violated(what.str());
  }
  const pb::RegionMap known = evidence_.cluster.region_map();
  for (const pb::RegionEntry& entry : known.regions()) {
    const auto& parents = entry.parents();
    const bool is_child = std::find(parents.begin(), parents.end(), stream.region.value) != parents.end();
    if (!is_child || entry.sealed()) continue;
    what << ", but its child " << entry.region() << " has ";
    if (const std::string who = who_needs_more(entry, Offset{0}); !who.empty())
      return violated(what.str() + "no checkpoint at " + who);
    if (checkpoints(RegionId{entry.region()}, Offset{0}) >= needed()) continue;
    what << "fewer than " << needed() << " checkpoints";
    return violated(what.str());
  }
}

}  // namespace tidemark::sim
