// Inside random slicing: the ring as pieces, and who has to give or take how much.
#pragma once

#include <limits>

#include "hashring/counted.h"
#include "hashring/slice_ring.h"

namespace tidemark::hashring {

// Members and leavers by dense number: members in their order, then leavers in ring order.
using Party = uint32_t;
inline constexpr Party kGap = std::numeric_limits<Party>::max();

struct Piece {
  uint64_t begin;
  u128 length;
  Party party;  // kGap: to be given to someone.
};

// The part of `piece` from `offset` units on, for another party.
inline Piece tail_of(const Piece& piece, u128 offset, Party party) {
  return {static_cast<uint64_t>(piece.begin + offset), piece.length - offset, party};
}

// What is left to be done. Whatever is in excess or unowned is exactly what is needed.
struct Rebalance {
  std::vector<Piece> pieces;  // In ring order, end to end.
  std::vector<u128> excess;   // By party: units still to be given up.
  std::vector<u128> need;     // By party: units still to be received.
  Work* work;
};

// Each turns every excess into gaps and every gap into someone's piece. Afterwards the pieces cover the ring
// in any order, and excess and need are all zero.
void collect_greedily(Rebalance& change);
void collect_cut_shift_sorted(Rebalance& change);
void collect_coalescing(Rebalance& change);

// Appends what remains of `piece` and a gap of `units` at its head or at its tail.
enum class Side : uint8_t { Head, Tail };
void cut(const Piece& piece, u128 units, Side side, std::vector<Piece>& out);

// Joins neighbouring gaps.
std::vector<Piece> with_joined_gaps(const std::vector<Piece>& pieces);

}  // namespace tidemark::hashring
