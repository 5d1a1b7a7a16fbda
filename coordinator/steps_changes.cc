// Split and merge. The seal in the (first) parent's log is the commit point: these steps follow the logs,
// they never decide against them. See docs/protocols.md for the phases.
#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "coordinator/step_list.h"

namespace tidemark {

using Phase = pb::RegionChange;

bool may_follow(pb::RegionChange::Phase from, pb::RegionChange::Phase to) {
  switch (from) {
    case Phase::SPLIT_SEAL: return to == Phase::UNDO;
    case Phase::MERGE_MERGING:
      return to == Phase::MERGE_SEAL_FIRST || to == Phase::MERGE_SEAL_SECOND || to == Phase::UNDO;
    case Phase::MERGE_SEAL_FIRST: return to == Phase::MERGE_SEAL_SECOND || to == Phase::UNDO;
    case Phase::UNDO: return to == Phase::MERGE_SEAL_SECOND || to == Phase::MERGE_UNMERGE;
    case Phase::MERGE_SEAL_SECOND:
    case Phase::MERGE_UNMERGE:
    case Phase::PHASE_UNSPECIFIED:
    default: return false;  // Of a later version of Tidemark: not ours to move.
  }
}

namespace steps {

namespace {

pb::RegionChange& change_in(Step& step, uint64_t id) {
  for (auto& change : *step.after.map.mutable_changes())
    if (change.id() == id) return change;
  TM_UNREACHABLE();
}

std::string name_of(const pb::RegionChange& change) {
  return (change.parents_size() == 1 ? "split " : "merge ") + std::to_string(change.id());
}

Step enter(const Situation& now, StepKind kind, const pb::RegionChange& change,
           pb::RegionChange::Phase phase) {
  TM_ASSERT(may_follow(change.phase(), phase), change.phase(), phase);
  Step step = begin_step(now, kind, name_of(change));
  raise_map_version(step);
  pb::RegionChange& mine = change_in(step, change.id());
  mine.set_phase(phase);
  mine.set_version(step.after.map.version());
  return step;
}

void drop_change(Step& step, uint64_t id) {
  auto* changes = step.after.map.mutable_changes();
  for (int i = changes->size() - 1; i >= 0; --i)
    if (changes->Get(i).id() == id) changes->DeleteSubrange(i, 1);
}

// Has said nothing of a region that it is a member of.
bool is_silent(const Situation& now, const pb::RegionEntry& entry, const std::string& node) {
  return Situation::replica_on(entry, node) && !now.status(entry.region(), node);
}

// Nodes on which the children can be built: those that have every parent, the first one's owner before
// others. A replica that was still waiting for a parent's checkpoint would wait for ever, since nobody sends
// those of sealed regions: it joins the children later. One that is away and has told this coordinator
// nothing may have the only copy beside the owner's: it comes last, and if it has nothing, it is sent the
// children. Empty: not all that are alive have said what they have.
std::vector<std::string> homes_of_children(const Situation& now, const pb::RegionChange& change) {
  const pb::RegionEntry& first = *now.region(change.parents(0));
  std::vector<std::string> out;
  std::vector<std::string> perhaps;
  for (const auto& replica : first.replicas()) {
    const std::string& node = replica.node();
    bool everything = true;
    bool told = true;
    for (uint64_t parent : change.parents()) {
      const pb::RegionEntry& entry = *now.region(parent);
      const bool is_member = Situation::replica_on(entry, node) != nullptr;
      const bool silent = is_silent(now, entry, node);
      if (silent && now.is_node_alive(node)) return {};
      everything = everything && is_member && (silent || now.can_build_from(entry, node));
      told = told && !silent;
    }
    if (everything) (told ? out : perhaps).push_back(node);
  }
  auto rank = [&](const std::string& node) {
    return std::pair(!now.is_node_alive(node), node != first.owner());
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (!out.empty()) out.insert(out.end(), perhaps.begin(), perhaps.end());
  return out;
}

// The parents are sealed: their children take over, where the parents are.
MaybeStep forward(const Situation& now, const pb::RegionChange& change) {
  std::vector<std::string> homes = homes_of_children(now, change);
  if (homes.empty()) return std::nullopt;
  bool split = change.parents_size() == 1;
  Step step = begin_step(now, split ? StepKind::ForwardSplit : StepKind::ForwardMerge, name_of(change));
  raise_map_version(step);
  uint32_t generation = 0;
  for (uint64_t parent : change.parents()) {
    generation = std::max(generation, now.region(parent)->generation());
    if (TM_MUTATION("generation of one parent on merge"))
      generation = now.region(change.parents(0))->generation();
    entry_in(step, parent).set_sealed(true);
  }
  for (const auto& child : change.children()) {
    pb::RegionEntry& entry = *step.after.map.add_regions();
    entry.set_region(child.region());
    *entry.mutable_shards() = child.shards();
    entry.set_generation(generation + 1);
    entry.set_owner(homes.front());
    entry.set_born(step.after.map.version());
    *entry.mutable_parents() = change.parents();
    for (const std::string& node : homes) {
      pb::Replica& mine = *entry.add_replicas();
      mine.set_node(node);
      mine.set_joined(step.after.map.version());
    }
  }
  drop_change(step, change.id());
  return step;
}

Step cancel(const Situation& now, const pb::RegionChange& change) {
  Step step = begin_step(now, StepKind::CancelChange, name_of(change));
  raise_map_version(step);
  drop_change(step, change.id());
  return step;
}

bool is_cancelled(const Situation& now, const pb::RegionChange& change) {
  for (const auto& operation : now.facts.operations.running())
    if (operation.change() == change.id() && operation.cancelling()) return true;
  return false;
}

// The parent has a fence of the undoing's map version or later: no seal of this change can come any more.
bool is_fenced(const pb::RegionChange& change, const LogView& log) {
  return log.fence_version >= change.version() || TM_MUTATION("undone without a fence");
}

// A child can be built only by who has both parents, and nobody sends a parent that is sealed. So whichever
// node is lost: if each parent can do without it, so can the child. Who has told nothing is waited for, until
// it is given up.
bool child_is_as_safe(const Situation& now, const pb::RegionEntry& first, const pb::RegionEntry& second) {
  std::set<std::string> with_first;
  std::set<std::string> with_second;
  for (const pb::RegionEntry* parent : {&first, &second}) {
    for (const auto& replica : parent->replicas()) {
      const std::string& node = replica.node();
      if (!is_silent(now, *parent, node)) {
        if (now.can_build_from(*parent, node)) (parent == &first ? with_first : with_second).insert(node);
      } else if (!now.is_node_given_up(node)) {
        return false;
      }
    }
  }
  std::set<std::string> homes;
  std::set_intersection(with_first.begin(), with_first.end(), with_second.begin(), with_second.end(),
                        std::inserter(homes, homes.end()));
  const auto does_without = [](const std::set<std::string>& nodes, const std::string& node) {
    return nodes.size() > nodes.count(node);
  };
  return std::all_of(first.replicas().begin(), first.replicas().end(), [&](const auto& replica) {
    const std::string& node = replica.node();
    return does_without(homes, node) || !does_without(with_first, node) || !does_without(with_second, node);
  });
}

// Somebody who is there is about to say what it has.
bool waits_for_word(const Situation& now, const pb::RegionEntry& entry) {
  return std::any_of(entry.replicas().begin(), entry.replicas().end(), [&](const auto& replica) {
    return is_silent(now, entry, replica.node()) && now.is_node_alive(replica.node());
  });
}

MaybeStep advance_split(const Situation& now, const pb::RegionChange& change) {
  LogView parent = now.log(change.parents(0)).value_or(LogView{});
  const bool undoes = change.phase() == Phase::UNDO;
  if (parent.sealed == change.id() && !(undoes && TM_MUTATION("a sealed change is undone"))) {
    if (undoes) TM_PROBE("coordinator: a split that was being undone is done");
    return forward(now, change);
  }
  if (undoes && !is_fenced(change, parent)) return std::nullopt;
  if (undoes) {
    TM_PROBE("coordinator: a split is undone");
    return cancel(now, change);
  }
  if (is_cancelled(now, change)) return enter(now, StepKind::UndoChange, change, Phase::UNDO);
  return std::nullopt;
}

MaybeStep advance_merge(const Situation& now, const pb::RegionChange& change) {
  LogView first = now.log(change.parents(0)).value_or(LogView{});
  LogView second = now.log(change.parents(1)).value_or(LogView{});
  bool first_sealed = first.sealed == change.id();
  switch (change.phase()) {
    case Phase::MERGE_MERGING:
      if (first_sealed) return enter(now, StepKind::SealSecond, change, Phase::MERGE_SEAL_SECOND);
      if (second.merging == change.id()) {
        const pb::RegionEntry& one = *now.region(change.parents(0));
        const pb::RegionEntry& other = *now.region(change.parents(1));
        if (waits_for_word(now, one) || waits_for_word(now, other)) return std::nullopt;
        // Nobody's loss was to be feared when it began; now somebody's is, and this is the last moment to
        // turn back.
        if (!child_is_as_safe(now, one, other)) {
          TM_PROBE("coordinator: a merge turns back, its child would not be as safe");
          return enter(now, StepKind::UndoChange, change, Phase::UNDO);
        }
        // The second stands still at these; the first may be sealed only at the same.
        Step step = enter(now, StepKind::SealFirst, change, Phase::MERGE_SEAL_FIRST);
        change_in(step, change.id()).set_catalog_version(second.catalog_version);
        change_in(step, change.id()).set_ring_version(second.ring_version);
        return step;
      }
      if (is_cancelled(now, change)) return enter(now, StepKind::UndoChange, change, Phase::UNDO);
      return std::nullopt;
    case Phase::MERGE_SEAL_FIRST: {
      if (first_sealed) return enter(now, StepKind::SealSecond, change, Phase::MERGE_SEAL_SECOND);
      bool too_far =
          first.catalog_version > change.catalog_version() || first.ring_version > change.ring_version();
      if (too_far) TM_PROBE("coordinator: a merge turns back before a later ring or catalog");
      if (too_far || is_cancelled(now, change)) return enter(now, StepKind::UndoChange, change, Phase::UNDO);
      return std::nullopt;
    }
    case Phase::UNDO:
      if (first_sealed && !TM_MUTATION("a sealed change is undone")) {
        TM_PROBE("coordinator: a merge that was being undone is done");
        return enter(now, StepKind::SealSecond, change, Phase::MERGE_SEAL_SECOND);
      }
      if (is_fenced(change, first) && TM_MUTATION("a merge undone without unmerge"))
        return cancel(now, change);
      if (is_fenced(change, first)) return enter(now, StepKind::UnmergeSecond, change, Phase::MERGE_UNMERGE);
      return std::nullopt;
    case Phase::MERGE_UNMERGE:
      if (!second.unmerged.contains(change.id())) return std::nullopt;
      TM_PROBE("coordinator: a merge is undone");
      return cancel(now, change);
    case Phase::MERGE_SEAL_SECOND:
      if (first_sealed && second.sealed == change.id()) return forward(now, change);
      return std::nullopt;
    default: return std::nullopt;  // Written by a later version: not ours to move.
  }
}

pb::RegionChange& add_change(Step& step, std::vector<uint64_t> parents, pb::RegionChange::Phase phase) {
  pb::RegionMap& map = step.after.map;
  raise_map_version(step);
  pb::RegionChange& change = *map.add_changes();
  change.set_id(std::max<uint64_t>(1, map.next_change()));
  map.set_next_change(change.id() + 1);
  change.mutable_parents()->Add(parents.begin(), parents.end());
  change.set_phase(phase);
  change.set_version(map.version());
  return change;
}

void add_child(Step& step, pb::RegionChange& change, uint32_t begin, uint32_t end) {
  auto* child = change.add_children();
  child->set_region(step.after.map.next_region());
  step.after.map.set_next_region(step.after.map.next_region() + 1);
  child->mutable_shards()->set_begin(begin);
  child->mutable_shards()->set_end(end);
}

bool same_nodes(const pb::RegionEntry& a, const pb::RegionEntry& b) {
  std::set<std::string> left;
  std::set<std::string> right;
  for (const auto& replica : a.replicas()) left.insert(replica.node());
  for (const auto& replica : b.replicas()) right.insert(replica.node());
  return left == right;
}

// At the newest catalog and ring, with every view begun and backfilled: so that nothing moves meanwhile.
bool is_settled(const Situation& now, const pb::RegionEntry& entry) {
  auto log = now.log(entry.region());
  return log && log->catalog_version == now.facts.catalog.version() &&
         log->ring_version == now.facts.ring.ring().version() && log->sealed == 0 &&
         (log->backfilling.empty() || TM_MUTATION("merge before every view has begun"));
}

bool all_views_begun(const pb::Catalog& catalog) {
  if (TM_MUTATION("merge before every view has begun")) return true;
  return std::none_of(catalog.tables().begin(), catalog.tables().end(), [](const auto& table) {
    return table.kind() == pb::VIEW && table.begun() == 0 && table.dropped() == 0;
  });
}

// The region needs its parents no more: it is in the checkpoints of all its replicas, two at least, and every
// lane has committed into its generation. Of a sealed one, this is asked of what it became.
bool needs_no_parents(const Situation& now, const pb::RegionEntry& entry) {
  if (entry.sealed()) {
    auto children = now.children_of(entry.region());
    return std::all_of(children.begin(), children.end(),
                       [&](const auto* child) { return needs_no_parents(now, *child); });
  }
  const auto replicas = static_cast<size_t>(entry.replicas_size());
  auto log = now.log(entry.region());
  const bool enough =
      replicas > 1 || now.facts.cluster.embedded() || TM_MUTATION("parent deleted with one checkpoint");
  const bool all =
      now.checkpoints(entry) == replicas || TM_MUTATION("parent deleted before its children's checkpoints");
  return enough && all && ((log && log->committed_past_seal) || TM_MUTATION("parent deleted early"));
}

}  // namespace

MaybeStep begin_split(const Situation& now) {
  for (int i = 0; i < now.facts.operations.running_size(); ++i) {
    const pb::Operation& operation = now.facts.operations.running(i);
    if (operation.kind() != pb::Operation::SPLIT_REGION || operation.change() != 0) continue;
    const pb::RegionEntry* parent = now.region(operation.regions(0));
    if (!parent || !now.is_idle(*parent) || operation.cancelling()) continue;
    uint32_t begin = parent->shards().begin();
    uint32_t end = parent->shards().end();
    uint32_t middle = operation.at_shard() != 0 ? operation.at_shard() : begin + (end - begin) / 2;
    if (middle <= begin || middle >= end) continue;
    Step step = begin_step(now, StepKind::BeginSplit, "region " + std::to_string(parent->region()));
    pb::RegionChange& change = add_change(step, {parent->region()}, Phase::SPLIT_SEAL);
    add_child(step, change, begin, middle);
    add_child(step, change, middle, end);
    step.after.operations.mutable_running(i)->set_change(change.id());
    return step;
  }
  return std::nullopt;
}

MaybeStep begin_merge(const Situation& now) {
  for (int i = 0; i < now.facts.operations.running_size(); ++i) {
    const pb::Operation& operation = now.facts.operations.running(i);
    if (operation.kind() != pb::Operation::MERGE_REGIONS || operation.cancelling()) continue;
    const pb::RegionEntry* first = now.region(operation.regions(0));
    const pb::RegionEntry* second = now.region(operation.regions(1));
    if (!first || !second || !now.is_idle(*first) || !now.is_idle(*second)) continue;
    if (!same_nodes(*first, *second) || !all_views_begun(now.facts.catalog)) continue;
    // The child needs a home where both are, and another if that one is lost.
    if (!now.can_build_from(*first, second->owner()) || !now.can_build_from(*second, first->owner()))
      continue;
    if (!child_is_as_safe(now, *first, *second)) continue;
    if (!is_settled(now, *first) || !is_settled(now, *second)) continue;
    Step step =
        begin_step(now, StepKind::BeginMerge,
                   "regions " + std::to_string(first->region()) + " and " + std::to_string(second->region()));
    pb::RegionChange& change = add_change(step, {first->region(), second->region()}, Phase::MERGE_MERGING);
    add_child(step, change, std::min(first->shards().begin(), second->shards().begin()),
              std::max(first->shards().end(), second->shards().end()));
    step.after.operations.mutable_running(i)->set_change(change.id());
    return step;
  }
  return std::nullopt;
}

MaybeStep advance_change(const Situation& now) {
  for (const auto& change : now.facts.map.changes())
    if (auto step = change.parents_size() == 1 ? advance_split(now, change) : advance_merge(now, change))
      return step;
  return std::nullopt;
}

MaybeStep delete_parent(const Situation& now) {
  for (const auto& entry : now.facts.map.regions()) {
    if (!entry.sealed() || !needs_no_parents(now, entry)) continue;
    Step step = begin_step(now, StepKind::DeleteParent, "region " + std::to_string(entry.region()));
    raise_map_version(step);
    auto* regions = step.after.map.mutable_regions();
    for (int i = regions->size() - 1; i >= 0; --i)
      if (regions->Get(i).region() == entry.region()) regions->DeleteSubrange(i, 1);
    return step;
  }
  return std::nullopt;
}

}  // namespace steps

}  // namespace tidemark
