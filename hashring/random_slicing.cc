#include "hashring/random_slicing.h"

#include <unordered_map>

#include "hashring/gap_collection.h"
#include "hashring/members.h"
#include "hashring/shares.h"

namespace tidemark::hashring {

namespace {

class Parties {
 public:
  explicit Parties(const Members& members) {
    for (const Member& member : members) number(member.id);
  }
  Party number(MemberId id) {
    const auto [at, is_new] = numbers_.try_emplace(id.value, static_cast<Party>(ids_.size()));
    if (is_new) ids_.push_back(id);
    return at->second;
  }
  MemberId id(Party party) const { return ids_[party]; }
  size_t count() const { return ids_.size(); }

 private:
  std::unordered_map<uint32_t, Party> numbers_;
  std::vector<MemberId> ids_;
};

Rebalance prepare(const SliceRing& present, const Members& members, Parties& parties, Work* work) {
  Rebalance change{.pieces = {}, .excess = {}, .need = {}, .work = work};
  std::vector<u128> held(members.size());
  for (const Slice& slice : present.slices()) {
    const Party party = slice.owner == kNoMember ? kGap : parties.number(slice.owner);
    change.pieces.push_back({slice.begin, slice.length, party});
    held.resize(parties.count());
    if (party != kGap) held[party] += slice.length;
    count(work);
  }
  std::vector<u128> share = fair_shares(present.size(), members, std::span(held).first(members.size()), work);
  share.resize(parties.count());  // Leavers keep nothing.
  change.excess.resize(parties.count());
  change.need.resize(parties.count());
  for (size_t i = 0; i < share.size(); ++i) {
    if (held[i] > share[i]) change.excess[i] = held[i] - share[i];
    if (held[i] < share[i]) change.need[i] = share[i] - held[i];
  }
  return change;
}

SliceRing finish(Rebalance& change, const Parties& parties, RingSize size) {
  counted_sort(
      change.pieces, [](const Piece& a, const Piece& b) { return a.begin < b.begin; }, change.work);
  std::vector<Slice> slices;
  slices.reserve(change.pieces.size());
  for (const Piece& piece : change.pieces)
    slices.push_back({piece.begin, piece.length, parties.id(piece.party)});
  return SliceRing(size, slices);
}

}  // namespace

void cut(const Piece& piece, u128 units, Side side, std::vector<Piece>& out) {
  const u128 kept = piece.length - units;
  if (side == Side::Tail) {
    out.push_back({piece.begin, kept, piece.party});
    out.push_back(tail_of(piece, kept, kGap));
  } else {
    out.push_back({piece.begin, units, kGap});
    out.push_back(tail_of(piece, units, piece.party));
  }
}

std::vector<Piece> with_joined_gaps(const std::vector<Piece>& pieces) {
  std::vector<Piece> joined;
  for (const Piece& piece : pieces) {
    if (piece.party == kGap && !joined.empty() && joined.back().party == kGap) {
      joined.back().length += piece.length;
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

Result<SliceRing> reslice(const SliceRing& present, const Members& members, GapCollection collection,
                          Work* work) {
  if (Status status = check_members(members, present.size()); !status) return status.error();
  Parties parties(members);
  Rebalance change = prepare(present, members, parties, work);
  switch (collection) {
    case GapCollection::Greedy: collect_greedily(change); break;
    case GapCollection::CutShiftSorted: collect_cut_shift_sorted(change); break;
    case GapCollection::Coalescing: collect_coalescing(change); break;
  }
  return finish(change, parties, present.size());
}

}  // namespace tidemark::hashring
