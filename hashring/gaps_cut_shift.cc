#include <numeric>
#include <utility>

#include "hashring/gap_collection.h"

namespace tidemark::hashring {

namespace {

void release_whole_slices(Rebalance& change) {
  for (Piece& piece : change.pieces) {
    count(change.work);
    if (piece.party == kGap || change.excess[piece.party] < piece.length) continue;
    change.excess[piece.party] -= piece.length;
    piece.party = kGap;
  }
}

// What is still in excess is less than any slice of its member: one cut each. A cut at the tail is followed
// by one at the next slice's head, so that two gaps become one.
void cut_alternately(Rebalance& change) {
  std::vector<Piece> out;
  out.reserve(change.pieces.size() + change.excess.size());
  for (const Piece& piece : change.pieces) {
    count(change.work);
    if (piece.party == kGap || change.excess[piece.party] == 0) {
      out.push_back(piece);
      continue;
    }
    const bool gap_before = !out.empty() && out.back().party == kGap;
    cut(piece, std::exchange(change.excess[piece.party], 0), gap_before ? Side::Head : Side::Tail, out);
  }
  change.pieces = std::move(out);
}

// The largest need is met from the largest gaps.
void assign_sorted(Rebalance& change) {
  std::vector<Piece> gaps, out;
  for (const Piece& piece : with_joined_gaps(change.pieces))
    (piece.party == kGap ? gaps : out).push_back(piece);
  counted_sort(
      gaps,
      [](const Piece& a, const Piece& b) {
        return a.length != b.length ? a.length > b.length : a.begin < b.begin;
      },
      change.work);
  std::vector<Party> takers(change.need.size());
  std::iota(takers.begin(), takers.end(), Party{0});
  counted_sort(
      takers,
      [&](Party a, Party b) {
        return change.need[a] != change.need[b] ? change.need[a] > change.need[b] : a < b;
      },
      change.work);

  auto taker = takers.begin();
  for (Piece gap : gaps) {
    while (gap.length > 0) {
      count(change.work);
      if (change.need[*taker] == 0) {
        ++taker;
        continue;
      }
      const u128 units = std::min(change.need[*taker], gap.length);
      change.need[*taker] -= units;
      out.push_back({gap.begin, units, *taker});
      gap = tail_of(gap, units, kGap);
    }
  }
  change.pieces = std::move(out);
}

}  // namespace

void collect_cut_shift_sorted(Rebalance& change) {
  release_whole_slices(change);
  cut_alternately(change);
  assign_sorted(change);
}

}  // namespace tidemark::hashring
