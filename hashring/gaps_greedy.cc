#include <utility>

#include "hashring/gap_collection.h"

namespace tidemark::hashring {

namespace {

void release(Rebalance& change) {
  std::vector<Piece> out;
  out.reserve(change.pieces.size() + change.excess.size());
  for (const Piece& piece : change.pieces) {
    count(change.work);
    if (piece.party == kGap || change.excess[piece.party] == 0) {
      out.push_back(piece);
    } else if (u128& excess = change.excess[piece.party]; excess >= piece.length) {
      excess -= piece.length;
      out.push_back(tail_of(piece, 0, kGap));
    } else {
      cut(piece, std::exchange(excess, 0), Side::Tail, out);
    }
  }
  change.pieces = std::move(out);
}

// Members take in their order, each from the head of the first gap that is left.
void assign(Rebalance& change) {
  std::vector<Piece> out;
  out.reserve(change.pieces.size() + change.need.size());
  Party taker = 0;
  for (Piece piece : change.pieces) {
    while (piece.party == kGap && piece.length > 0) {
      count(change.work);
      while (change.need[taker] == 0) ++taker;
      const u128 units = std::min(change.need[taker], piece.length);
      change.need[taker] -= units;
      out.push_back({piece.begin, units, taker});
      piece = tail_of(piece, units, kGap);
    }
    if (piece.length > 0) out.push_back(piece);
  }
  change.pieces = std::move(out);
}

}  // namespace

void collect_greedily(Rebalance& change) {
  release(change);
  assign(change);
}

}  // namespace tidemark::hashring
