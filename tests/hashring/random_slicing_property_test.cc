#include "hashring/random_slicing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hashring/handoff_ring.h"
#include "hashring/shares.h"
#include "tests/hashring/histories.h"

namespace tidemark::hashring {
namespace {

constexpr uint32_t kMembersMax = 12;
constexpr GapCollection kCollections[] = {GapCollection::Greedy, GapCollection::CutShiftSorted,
                                          GapCollection::Coalescing};

std::vector<u128> held_by(const SliceRing& ring, const Members& members) {
  return units_owned(ring, members);
}

// What must move: all that leavers hold, and what stayers hold above their share.
u128 least_possible(const SliceRing& present, const Members& members) {
  const std::vector<u128> held = held_by(present, members);
  const std::vector<u128> share = fair_shares(present.size(), members, held);
  u128 moved = 0;
  std::map<uint32_t, u128> by_id = held_by_id(present);
  by_id.erase(kNoMember.value);
  for (size_t i = 0; i < members.size(); ++i) {
    moved += held[i] > share[i] ? held[i] - share[i] : 0;
    by_id.erase(members[i].id.value);
  }
  for (const auto& [id, units] : by_id) moved += units;
  return moved;
}

RC_GTEST_PROP(RandomSlicing, MovesTheMinimumAndIsExactlyFairAlways, ()) {
  const RingSize size = any_size(kMembersMax);
  const auto history = any_history(kMembersMax, *rc::gen::arbitrary<bool>() ? Weights::Any : Weights::Equal);
  for (const GapCollection collection : kCollections) {
    SliceRing ring = SliceRing::unowned(size);
    for (const Members& members : history) {
      const std::vector<u128> share = fair_shares(size, members, held_by(ring, members));
      const u128 least = least_possible(ring, members);
      const SliceRing next = *reslice(ring, members, collection);
      RC_ASSERT(held_by(next, members) == share);
      RC_ASSERT(next.owner_count() == members.size());
      RC_ASSERT(bool(units_moved(*handoff_ring(ring, next)) == least));
      ring = next;
    }
  }
}

RC_GTEST_PROP(RandomSlicing, UnchangedMembersMoveNothing, ()) {
  const RingSize size = any_size(kMembersMax);
  const Members members = any_members(kMembersMax, Weights::Any);
  for (const GapCollection collection : kCollections) {
    const SliceRing ring = *reslice(SliceRing::unowned(size), members, collection);
    Members reordered = members;
    std::reverse(reordered.begin(), reordered.end());
    RC_ASSERT(*reslice(ring, members, collection) == ring);
    RC_ASSERT(*reslice(ring, reordered, collection) == ring);
  }
}

// One split per shrinking member, one per growing one.
RC_GTEST_PROP(RandomSlicing, AChangeAddsAtMostOneSlicePerMemberThatChanges, ()) {
  const RingSize size = any_size(kMembersMax);
  for (const GapCollection collection : kCollections) {
    SliceRing ring = SliceRing::unowned(size);
    for (const Members& members : any_history(kMembersMax, Weights::Any)) {
      const SliceRing next = *reslice(ring, members, collection);
      const auto before = held_by_id(ring), after = held_by_id(next);
      size_t changed = 0;
      for (const auto& [id, units] : before) changed += !after.contains(id) || after.at(id) != units;
      for (const auto& [id, units] : after) changed += !before.contains(id);
      // A cut at both ends of a gap adds two borders: two per change at most.
      RC_ASSERT(next.slice_count() <= ring.slice_count() + 2 * changed);
      if (collection == GapCollection::Greedy) RC_ASSERT(next.slice_count() <= ring.slice_count() + changed);
      ring = next;
    }
  }
}

// The greedy algorithm, told unit by unit.
std::vector<uint32_t> naive_greedy(std::vector<uint32_t> units, const Members& members,
                                   const std::vector<u128>& share) {
  constexpr uint32_t kFree = kNoMember.value;
  std::map<uint32_t, int64_t> surplus;
  for (const uint32_t id : units) ++surplus[id];
  for (size_t i = 0; i < members.size(); ++i) surplus[members[i].id.value] -= static_cast<int64_t>(share[i]);
  for (size_t begin = 0, end = 0; begin < units.size(); begin = end) {
    const uint32_t id = units[begin];
    while (end < units.size() && units[end] == id) ++end;
    if (id == kFree) continue;
    for (size_t unit = end; unit > begin && surplus[id] > 0; --unit, --surplus[id]) units[unit - 1] = kFree;
  }
  for (const Member& member : members) {
    for (uint32_t& unit : units) {
      if (unit != kFree || surplus[member.id.value] >= 0) continue;
      unit = member.id.value;
      ++surplus[member.id.value];
    }
  }
  return units;
}

RC_GTEST_PROP(GreedySlicing, AgreesWithItsNaiveTwin, ()) {
  const RingSize size{*rc::gen::inRange<uint64_t>(kMembersMax, 300)};
  SliceRing ring = SliceRing::unowned(size);
  std::vector<uint32_t> twin(static_cast<size_t>(size.units), kNoMember.value);
  for (const Members& members : any_history(kMembersMax, Weights::Any)) {
    twin = naive_greedy(twin, members, fair_shares(size, members, held_by(ring, members)));
    ring = *reslice(ring, members, GapCollection::Greedy);
    for (size_t unit = 0; unit < twin.size(); ++unit) RC_ASSERT(ring.owner_of(unit).value == twin[unit]);
  }
}

// Every way to hand out the left-over units by largest remainder; the best of them.
u128 least_over_all_ties(RingSize size, const Members& members, const std::vector<u128>& held) {
  u128 total = 0;
  for (const Member& member : members) total += member.weight;
  u128 best = size.units;
  for (uint32_t extra = 0; extra < 1u << members.size(); ++extra) {
    u128 sum = 0, moved = 0, least_up = total, most_down = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      const u128 scaled = size.units * members[i].weight, remainder = scaled % total;
      const bool up = extra >> i & 1;
      const u128 share = scaled / total + up;
      sum += share;
      if (up) least_up = std::min(least_up, remainder);
      if (!up) most_down = std::max(most_down, remainder);
      if (held[i] > share) moved += held[i] - share;
    }
    if (sum == size.units && (extra == 0 || least_up >= most_down)) best = std::min(best, moved);
  }
  return best;
}

RC_GTEST_PROP(FairShares, NoChoiceOfTiesMovesLess, ()) {
  const Members members = any_members(8, *rc::gen::arbitrary<bool>() ? Weights::Any : Weights::Equal);
  const RingSize size{*rc::gen::inRange<uint64_t>(8, 200)};
  for (const Member& member : members) {
    u128 total = 0;
    for (const Member& other : members) total += other.weight;
    RC_PRE(bool(size.units * member.weight >= total));  // The least share of one unit is not at work.
  }
  std::vector<u128> held(members.size());
  for (uint64_t unit = 0; unit < size.units; ++unit) ++held[*rc::gen::inRange<size_t>(0, held.size())];
  const std::vector<u128> share = fair_shares(size, members, held);
  u128 sum = 0, moved = 0;
  for (size_t i = 0; i < share.size(); ++i) {
    sum += share[i];
    if (held[i] > share[i]) moved += held[i] - share[i];
  }
  RC_ASSERT(bool(sum == size.units));
  RC_ASSERT(bool(moved == least_over_all_ties(size, members, held)));
}

RC_GTEST_PROP(FairShares, AreWithinOneUnitOfTheWeightAndNeverNothing, ()) {
  const Members members = any_members(kMembersMax, Weights::Any);
  const RingSize size = any_size(kMembersMax);
  u128 total = 0, sum = 0;
  for (const Member& member : members) total += member.weight;
  const std::vector<u128> share = fair_shares(size, members, {});
  bool someone_was_lifted = false;
  for (const Member& member : members) someone_was_lifted |= size.units * member.weight < total;
  for (size_t i = 0; i < share.size(); ++i) {
    sum += share[i];
    RC_ASSERT(bool(share[i] >= 1));
    const u128 exact = size.units * members[i].weight / total;
    if (!someone_was_lifted) RC_ASSERT(bool(share[i] == exact || share[i] == exact + 1));
  }
  RC_ASSERT(bool(sum == size.units));
}

RC_GTEST_PROP(SliceRing, LookupAgreesWithALinearScan, ()) {
  const RingSize size = any_size(kMembersMax);
  SliceRing ring = SliceRing::unowned(size);
  for (const Members& members : any_history(kMembersMax, Weights::Any)) {
    ring = *reslice(ring, members, GapCollection::Greedy);
  }
  const auto slices = ring.slices();
  for (int i = 0; i < 20; ++i) {
    const uint64_t unit = unit_of(*rc::gen::arbitrary<uint64_t>(), size);
    size_t index = 0;
    while (u128{slices[index].begin} + slices[index].length <= unit) ++index;
    RC_ASSERT(ring.index_of(unit) == index);
  }
  for (size_t i = 0; i < slices.size(); ++i) {  // Both ends of every slice.
    RC_ASSERT(ring.index_of(slices[i].begin) == i);
    RC_ASSERT(ring.index_of(static_cast<uint64_t>(slices[i].begin + slices[i].length - 1)) == i);
  }
}

RC_GTEST_PROP(HandoffRing, AgreesWithANaiveComparisonOfUnits, ()) {
  const RingSize size{*rc::gen::inRange<uint64_t>(kMembersMax, 300)};
  const SliceRing old =
      *reslice(SliceRing::unowned(size), any_members(kMembersMax, Weights::Any), GapCollection::Greedy);
  const SliceRing next = *reslice(old, any_members(kMembersMax, Weights::Any), GapCollection::Coalescing);
  const auto handoff = *handoff_ring(old, next);
  uint64_t unit = 0;
  for (const HandoffSlice& slice : handoff) {
    RC_ASSERT(slice.begin == unit);
    for (uint64_t i = 0; i < slice.length; ++i, ++unit) {
      RC_ASSERT(old.owner_of(unit) == slice.from);
      RC_ASSERT(next.owner_of(unit) == slice.to);
    }
  }
  RC_ASSERT(bool(unit == size.units));
  const auto moves = *diff(to_assignment(old), to_assignment(next));
  u128 moved = 0;
  for (const Move& move : moves) moved += move.shards.count();
  RC_ASSERT(bool(moved == units_moved(handoff)));
}

}  // namespace
}  // namespace tidemark::hashring
