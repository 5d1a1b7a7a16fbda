#include "coordinator/ring_planner.h"

#include <algorithm>
#include <map>

#include "base/assert.h"
#include "hashring/placement.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

// Names become numbers: those of the present ring keep theirs, so that nothing moves without need.
struct Numbering {
  std::vector<std::string> names;

  hashring::MemberId number_of(const std::string& name) {
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return {static_cast<uint32_t>(i)};
    names.push_back(name);
    return {static_cast<uint32_t>(names.size() - 1)};
  }
};

hashring::Assignment to_assignment(const pb::Ring& ring, ShardCount shards) {
  std::vector<hashring::MemberId> owners(shards.value, hashring::kNoMember);
  for (const auto& slice : ring.slices())
    for (uint32_t s = slice.shards().begin(); s < slice.shards().end() && s < shards.value; ++s)
      owners[s] = {slice.member()};
  return hashring::Assignment(std::move(owners));
}

pb::Ring to_ring(const hashring::Assignment& assignment, const Numbering& numbering,
                 const std::vector<RingMember>& members, uint64_t version) {
  pb::Ring ring;
  ring.set_version(version);
  std::map<uint32_t, uint32_t> index;  // From number to place in the ring's list.
  for (const RingMember& member : members) {
    for (uint32_t number = 0; number < numbering.names.size(); ++number)
      if (numbering.names[number] == member.name) index[number] = static_cast<uint32_t>(ring.members_size());
    ring.add_members(member.name);
  }
  for (uint32_t s = 0; s < assignment.shards(); ++s) {
    uint32_t member = index.at(assignment.owner({s}).value);
    auto* last = ring.slices_size() > 0 ? ring.mutable_slices(ring.slices_size() - 1) : nullptr;
    if (last == nullptr || last->member() != member) {
      last = ring.add_slices();
      last->set_member(member);
      last->mutable_shards()->set_begin(s);
    }
    last->mutable_shards()->set_end(s + 1);
  }
  return ring;
}

Result<pb::Ring> plan_with(const hashring::Strategy& strategy, ShardCount shards, const pb::Ring& present,
                           const std::vector<RingMember>& members,
                           const std::vector<hashring::SliceLoad>& load) {
  Numbering numbering{{present.members().begin(), present.members().end()}};
  hashring::Members wanted;
  for (const RingMember& member : members)
    wanted.push_back({numbering.number_of(member.name), member.name, std::max(1u, member.weight)});
  auto plan = hashring::plan(strategy, wanted, to_assignment(present, shards), load);
  if (!plan.ok()) return Error{plan.error().message};
  return to_ring(plan->assignment, numbering, members, present.version() + 1);
}

}  // namespace

bool is_placement(const std::string& name) {
  return hashring::strategy_named(name).has_value();
}

Result<pb::Ring> plan_ring(const std::string& placement, ShardCount shards, const pb::Ring& present,
                           const std::vector<RingMember>& members) {
  hashring::Strategy strategy;
  auto kind = hashring::strategy_named(placement);
  if (!kind) return Error{"there is no placement strategy \"" + placement + "\""};
  // Weighted-move balances by load; membership changes go by the default.
  strategy.kind = *kind == hashring::StrategyKind::WeightedMove ? hashring::kDefaultStrategy : *kind;
  auto ring = plan_with(strategy, shards, present, members, {});
  if (ring.ok() || strategy.kind == hashring::kDefaultStrategy) return ring;
  // A strategy that can not do this change (jump hash and the death of a member in the middle) must not keep
  // shards with the dead.
  return plan_with({}, shards, present, members, {});
}

Result<pb::Ring> plan_balanced_ring(ShardCount shards, const pb::Ring& present,
                                    const std::vector<RingMember>& members,
                                    const std::vector<MeasuredLoad>& load) {
  std::vector<hashring::SliceLoad> slices;
  for (const MeasuredLoad& one : load)
    slices.push_back({{one.shards.begin.value, one.shards.end.value}, one.changes_per_second});
  return plan_with({.kind = hashring::StrategyKind::WeightedMove}, shards, present, members, slices);
}

std::vector<RingMove> ring_moves(const pb::Ring& before, const pb::Ring& after) {
  std::vector<RingMove> out;
  int old_slice = 0;
  for (const auto& slice : after.slices()) {
    const std::string& to = after.members(static_cast<int>(slice.member()));
    uint32_t at = slice.shards().begin();
    while (at < slice.shards().end()) {
      while (old_slice < before.slices_size() && before.slices(old_slice).shards().end() <= at) ++old_slice;
      bool had = old_slice < before.slices_size();
      const std::string from =
          had ? before.members(static_cast<int>(before.slices(old_slice).member())) : std::string();
      uint32_t end = had ? std::min(slice.shards().end(), before.slices(old_slice).shards().end())
                         : slice.shards().end();
      if (from != to) out.push_back({{ShardId{at}, ShardId{end}}, from, to});
      at = end;
    }
  }
  return out;
}

uint32_t shards_of(const pb::Ring& ring, const std::string& member) {
  uint32_t count = 0;
  for (const auto& slice : ring.slices())
    if (ring.members(static_cast<int>(slice.member())) == member)
      count += slice.shards().end() - slice.shards().begin();
  return count;
}

}  // namespace tidemark
