#include "coordinator/watched_directory.h"

#include <algorithm>

#include "coordinator/membership.h"
#include "proto/convert.h"
#include "proto/facts.pb.h"

namespace tidemark {

WatchedDirectory::WatchedDirectory(Coordination& coordination, Scheduler& scheduler)
    : scheduler_(scheduler),
      wakeup_(scheduler_, Micros{0}, [this] { read(); }),
      read_at_(scheduler.now()),
      map_watch_(coordination, scheduler, paths::kRegionMap,
                 [this](const std::optional<Fact>& fact) { on_map(fact); }),
      nodes_watch_(coordination, scheduler, paths::kNodes,
                   [this](const std::vector<EntriesWatch::Named>& entries) { on_nodes(entries); }) {}

const RegionPlace* WatchedDirectory::find(ShardId shard) const {
  auto it = std::partition_point(places_.begin(), places_.end(),
                                 [shard](const RegionPlace& place) { return place.shards.end <= shard; });
  return it != places_.end() && it->shards.contains(shard) ? &*it : nullptr;
}

void WatchedDirectory::look_again() {
  if (scheduler_.now().value - read_at_.value >= kLookAgainGapMax.value) gap_ = kLookAgainGapMin;
  const Micros next{read_at_.value + gap_.value};
  if (scheduler_.now() < next) return wakeup_.by(next);
  read();
}

void WatchedDirectory::read() {
  read_at_ = scheduler_.now();
  gap_.value = std::min(2 * gap_.value, kLookAgainGapMax.value);
  map_watch_.look_again();
  nodes_watch_.look_again();
}

void WatchedDirectory::on_map(const std::optional<Fact>& fact) {
  pb::RegionMap map;
  if (!fact || !map.ParseFromString(fact->data) || MapVersion{map.version()} < version_) return;
  if (MapVersion{map.version()} > version_) gap_ = kLookAgainGapMin;
  version_ = MapVersion{map.version()};
  places_.clear();
  for (const pb::RegionEntry& entry : map.regions()) {
    if (entry.sealed()) continue;
    places_.push_back({RegionId{entry.region()}, from_pb(entry.shards()), NodeId{entry.owner()}, Address{}});
  }
  std::sort(places_.begin(), places_.end(),
            [](const RegionPlace& a, const RegionPlace& b) { return a.shards < b.shards; });
  fill_addresses();
}

void WatchedDirectory::on_nodes(const std::vector<EntriesWatch::Named>& entries) {
  std::vector<std::pair<NodeId, Address>> alive;
  for (const auto& [name, fact] : members_from(entries)) {
    alive.emplace_back(NodeId{name}, Address{fact.address()});
  }
  if (alive == alive_) return;
  alive_ = std::move(alive);
  gap_ = kLookAgainGapMin;
  fill_addresses();
}

void WatchedDirectory::fill_addresses() {
  for (RegionPlace& place : places_) {
    auto it = std::find_if(alive_.begin(), alive_.end(),
                           [&](const auto& node) { return node.first == place.owner; });
    place.address = it == alive_.end() ? Address{} : it->second;
  }
}

}  // namespace tidemark
