// What the facts ask of an owner, derived from them and from what is in the log already: idempotent.
#include <memory>
#include <utility>

#include "base/mutation.h"
#include "node/region/owner.h"
#include "proto/convert.h"

namespace tidemark {

void RegionOwner::follow_facts(RegionCommands& out) {
  if (!serves()) return;
  // A region map older than the fence may tell of changes that were undone since.
  bool current = inputs_.facts && (inputs_.facts->map_version >= version_ ||
                                   TM_MUTATION("a map older than the fence is acted on"));
  if (current && inputs_.facts->change) follow_change(out);
  // A region about to merge stays as the other one saw it.
  if (serves() && (!ahead_.merging() || TM_MUTATION("a merging region goes on"))) follow_catalog_and_ring();
}

void RegionOwner::follow_change(RegionCommands& out) {
  const pb::RegionChange& change = *inputs_.facts->change;
  ChangeId id{change.id()};
  bool first = change.parents_size() > 0 && change.parents(0) == identity().region.value;
  pb::RecordBody body;
  switch (change.phase()) {
    case pb::RegionChange::SPLIT_SEAL: return seal(change);
    case pb::RegionChange::MERGE_MERGING:
      // An unmerged change never merges again: the map that says so is stale.
      if (first || ahead_.merging() == id || !ahead_.all_backfilled()) return;
      if (ahead_.unmerged().contains(id) && !TM_MUTATION("an unmerged change merges again")) return;
      body.mutable_merging()->set_change(id.value);
      append_control(std::move(body));
      return;
    case pb::RegionChange::MERGE_SEAL_FIRST:
      if (!first && TM_MUTATION("the second is sealed before the first")) return seal(change);
      if (!first || ahead_.catalog().version().value != change.catalog_version() ||
          ahead_.ring().value != change.ring_version() || !ahead_.all_backfilled()) {
        return;
      }
      return seal(change);
    case pb::RegionChange::MERGE_SEAL_SECOND:
      if (!first) seal(change);
      return;
    case pb::RegionChange::UNDO:
      // A fence under a map that knows of the undoing: no seal of before it can count any more.
      if (!first || version_.value >= change.version() || refence_asked_) return;
      refence_asked_ = true;
      out.refence = true;
      return;
    case pb::RegionChange::MERGE_UNMERGE:
      if (first || ahead_.unmerged().contains(id)) return;
      body.mutable_unmerge()->set_change(id.value);
      append_control(std::move(body));
      return;
    default: return;
  }
}

void RegionOwner::seal(const pb::RegionChange& change) {
  close_commit();
  auto seal = std::make_shared<pb::Seal>();
  seal->set_change(change.id());
  seal->set_generation(inputs_.facts->child_generation.value);
  for (const pb::RegionChange::Child& child : change.children()) {
    pb::Seal::Child& to = *seal->add_children();
    to.set_region(child.region());
    *to.mutable_shards() = child.shards();
  }
  queue_.append_seal(seal);
  ahead_.seal_ = *seal;
}

void RegionOwner::follow_catalog_and_ring() {
  const pb::Catalog* catalog = inputs_.catalog.get();
  while (catalog != nullptr && ahead_.catalog().version().value < catalog->version()) {
    pb::RecordBody body;
    *body.mutable_catalog() = next_catalog_change(*catalog, ahead_.catalog().version());
    append_control(std::move(body));
  }
  if (inputs_.ring > ahead_.ring()) {
    pb::RecordBody body;
    body.mutable_cut()->set_ring_version(inputs_.ring.value);
    append_control(std::move(body));
  }
}

}  // namespace tidemark
