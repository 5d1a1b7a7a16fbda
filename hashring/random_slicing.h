// Random slicing: members own slices in proportion to their weights, and a change of members moves no unit
// more than the new shares demand.
#pragma once

#include "hashring/result.h"
#include "hashring/slice_ring.h"

namespace tidemark::hashring {

// How units are taken from members that shrink ("gaps") and given to members that grow. All three move the
// minimum; they differ in how many slices a long history leaves behind.
enum class GapCollection : uint8_t {
  // In ring order: whole slices, then the tail of one. At most one slice is split per shrinking member, and
  // at most one gap per growing member.
  Greedy,
  // Whole slices first; a slice that must be split is cut on the side where a gap is, so that gaps join; the
  // largest gaps go to the members that grow most.
  CutShiftSorted,
  // The smallest slices first; cuts beside gaps or beside members that grow; a gap goes to a neighbour that
  // grows, then to who fits it best. So slivers are absorbed instead of passed on.
  Coalescing,
};

// The next ring. Members that own slices of `present` but are not in `members` leave; units that nobody owns
// are given away and do not count as moved. Refuses what check_members refuses.
// Costs O((s + n) log(s + n)) steps for s slices and n members.
Result<SliceRing> reslice(const SliceRing& present, const Members& members, GapCollection collection,
                          Work* work = nullptr);

}  // namespace tidemark::hashring
