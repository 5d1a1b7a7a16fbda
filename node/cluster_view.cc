#include "node/cluster_view.h"

#include <algorithm>

namespace tidemark {
namespace {

// The number that the store appended to the entry's name: the lowest is the coordinator.
std::string_view sequence_of(std::string_view name) {
  constexpr size_t kDigits = 10;
  return name.size() <= kDigits ? name : name.substr(name.size() - kDigits);
}

}  // namespace

ClusterView::ClusterView(Coordination& coordination, Scheduler& scheduler, ShardCount shards,
                         Listener listener)
    : listener_(std::move(listener)),
      map_(std::make_unique<pb::RegionMap>()),
      rings_(shards),
      map_watch_(coordination, scheduler, paths::kRegionMap, [this](const auto& fact) { on_map(fact); }),
      ring_watch_(coordination, scheduler, paths::kRing, [this](const auto& fact) { on_ring(fact); }),
      catalog_watch_(coordination, scheduler, paths::kCatalog,
                     [this](const auto& fact) { on_catalog(fact); }),
      nodes_watch_(coordination, scheduler, paths::kNodes,
                   [this](const auto& entries) { nodes_ = members_from(entries); }),
      view_managers_watch_(coordination, scheduler, paths::kViewManagers,
                           [this](const auto& entries) {
                             view_managers_ = members_from(entries);
                             listener_.on_view_managers();
                           }),
      election_watch_(coordination, scheduler, paths::kElection,
                      [this](const auto& entries) { on_election(entries); }) {}

ClusterView::~ClusterView() = default;

void ClusterView::look_again() {
  map_watch_.look_again();
  ring_watch_.look_again();
  catalog_watch_.look_again();
  view_managers_watch_.look_again();
}

void ClusterView::look_at_map_again() {
  map_watch_.look_again();
}

void ClusterView::on_map(const std::optional<Fact>& fact) {
  auto map = std::make_unique<pb::RegionMap>();
  if (fact && !map->ParseFromString(fact->data)) return listener_.say("the region map does not parse");
  if (map->version() < map_->version()) return;
  map_ = std::move(map);
  listener_.on_map();
}

void ClusterView::on_ring(const std::optional<Fact>& fact) {
  pb::RingFact ring;
  if (!fact) return;
  if (!ring.ParseFromString(fact->data)) return listener_.say("the ring does not parse");
  if (ring.ring().version() < rings_.newest().value) return;
  Status updated = rings_.update(ring);
  if (!updated.ok()) return listener_.say(updated.error().message);
  ring_ = std::move(ring);
  listener_.on_rings();
}

void ClusterView::on_catalog(const std::optional<Fact>& fact) {
  auto catalog = std::make_shared<pb::Catalog>();
  if (fact && !catalog->ParseFromString(fact->data)) return listener_.say("the catalog does not parse");
  if (catalog_ && catalog->version() < catalog_->version()) return;
  catalog_ = std::move(catalog);
  listener_.on_catalog();
}

void ClusterView::on_election(const std::vector<EntriesWatch::Named>& entries) {
  auto lowest = std::min_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return sequence_of(a.name) < sequence_of(b.name);
  });
  pb::ProcessFact process;
  if (lowest == entries.end() || !process.ParseFromString(lowest->entry.data)) {
    coordinator_ = {};
  } else {
    coordinator_ = Address{process.address()};
  }
  listener_.on_coordinator();
}

const pb::RegionEntry* ClusterView::region(RegionId id) const {
  for (const pb::RegionEntry& entry : map_->regions()) {
    if (entry.region() == id.value) return &entry;
  }
  return nullptr;
}

const pb::RegionEntry* ClusterView::region_of(ShardId shard) const {
  for (const pb::RegionEntry& entry : map_->regions()) {
    if (!entry.sealed() && entry.shards().begin() <= shard.value && shard.value < entry.shards().end()) {
      return &entry;
    }
  }
  return nullptr;
}

Address ClusterView::address_of(const std::string& node) const {
  auto found = nodes_.find(node);
  return found == nodes_.end() ? Address{} : Address{found->second.address()};
}

std::optional<ViewManagerDirectory::Bearer> ClusterView::bearer(const std::string& identity) const {
  const pb::ProcessFact* process = bearer_of(ring_, view_managers_, identity);
  if (process == nullptr) return std::nullopt;
  return Bearer{Address{process->address()}, process->boot()};
}

}  // namespace tidemark
