#include <bit>
#include <numeric>
#include <set>
#include <utility>

#include "hashring/gap_collection.h"

namespace tidemark::hashring {

namespace {

// Each shrinking member gives up its smallest slices while they fit into what it must give: slivers lie
// beside slivers, so the gaps join.
void release_smallest_slices(Rebalance& change) {
  std::vector<size_t> order;
  for (size_t i = 0; i < change.pieces.size(); ++i) {
    const Party party = change.pieces[i].party;
    if (party != kGap && change.excess[party] > 0) order.push_back(i);
    count(change.work);
  }
  counted_sort(
      order,
      [&](size_t a, size_t b) {
        const Piece &x = change.pieces[a], &y = change.pieces[b];
        return x.length != y.length ? x.length < y.length : x.begin < y.begin;
      },
      change.work);
  for (const size_t i : order) {
    Piece& piece = change.pieces[i];
    if (change.excess[piece.party] < piece.length) continue;
    change.excess[piece.party] -= piece.length;
    piece.party = kGap;
  }
}

// One cut for each member that still has an excess; it is less than any of its slices.
class Cuts {
 public:
  explicit Cuts(Rebalance& change) : change_(change), chosen_(change.excess.size(), kNone) {}

  void choose() {
    choose_where(&Cuts::continues_gap);
    choose_where(&Cuts::meets_another_cut);
    choose_longest();
  }

  void make() {
    std::vector<Piece> out;
    out.reserve(change_.pieces.size() + chosen_.size());
    for (size_t i = 0; i < change_.pieces.size(); ++i) {
      const Piece& piece = change_.pieces[i];
      if (piece.party == kGap || chosen_[piece.party] != i) {
        out.push_back(piece);
      } else {
        cut(piece, std::exchange(change_.excess[piece.party], 0), sides_[i], out);
      }
    }
    change_.pieces = std::move(out);
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  bool is_pending(size_t i) const {
    const Party party = change_.pieces[i].party;
    return party != kGap && change_.excess[party] > 0 && chosen_[party] == kNone;
  }
  // A gap, or a member that can take the cut: no border is added.
  bool continues_gap(size_t i, size_t neighbour) {
    const Party beside = change_.pieces[neighbour].party;
    return beside == kGap || change_.need[beside] >= change_.excess[change_.pieces[i].party];
  }
  // Two cuts at one border: one border is added for both.
  bool meets_another_cut(size_t i, size_t neighbour) {
    if (!is_pending(neighbour) || change_.pieces[neighbour].party == change_.pieces[i].party) return false;
    take(neighbour, neighbour < i ? Side::Tail : Side::Head);
    return true;
  }
  void take(size_t i, Side side) {
    chosen_[change_.pieces[i].party] = i;
    sides_.resize(change_.pieces.size());
    sides_[i] = side;
  }
  void choose_where(bool (Cuts::*is_good)(size_t, size_t)) {
    for (size_t i = 0; i < change_.pieces.size(); ++i) {
      count(change_.work);
      if (!is_pending(i)) continue;
      if (i > 0 && (this->*is_good)(i, i - 1)) {
        take(i, Side::Head);
      } else if (i + 1 < change_.pieces.size() && (this->*is_good)(i, i + 1)) {
        take(i, Side::Tail);
      }
    }
  }
  void choose_longest() {
    std::vector<size_t> longest(chosen_.size(), kNone);
    for (size_t i = 0; i < change_.pieces.size(); ++i) {
      count(change_.work);
      if (!is_pending(i)) continue;
      size_t& best = longest[change_.pieces[i].party];
      if (best == kNone || change_.pieces[best].length < change_.pieces[i].length) best = i;
    }
    for (const size_t i : longest) {
      if (i != kNone) take(i, Side::Tail);
    }
  }

  Rebalance& change_;
  std::vector<size_t> chosen_;  // By party: the piece to be cut.
  std::vector<Side> sides_;     // By piece.
};

// A gap beside a member that grows is taken by it, as far as its need goes.
void extend_neighbours(Rebalance& change) {
  std::vector<Piece> out;
  std::vector<Piece>& pieces = change.pieces;
  for (size_t i = 0; i < pieces.size(); ++i) {
    count(change.work);
    Piece gap = pieces[i];
    if (gap.party != kGap) {
      out.push_back(gap);
      continue;
    }
    const auto need = [&](Party party) { return party == kGap ? 0 : change.need[party]; };
    const Party before = out.empty() ? kGap : out.back().party;
    const Party after = i + 1 < pieces.size() ? pieces[i + 1].party : kGap;
    const bool after_fits = need(after) >= gap.length && need(before) < gap.length;
    if (const u128 units = std::min(after_fits ? 0 : need(before), gap.length); units > 0) {
      change.need[before] -= units;
      out.push_back({gap.begin, units, before});
      gap = tail_of(gap, units, kGap);
    }
    const u128 units = std::min(need(after), gap.length);
    if (units > 0) change.need[after] -= units;
    if (units < gap.length) out.push_back({gap.begin, gap.length - units, kGap});
    if (units > 0) out.push_back(tail_of(gap, gap.length - units, after));
  }
  pieces = std::move(out);
}

struct ByLength {
  bool operator()(const Piece& a, const Piece& b) const {
    return a.length != b.length ? a.length < b.length : a.begin < b.begin;
  }
};

// The largest need first: whole gaps from the largest on, and the rest from the gap that it fits best.
void assign_best_fit(Rebalance& change) {
  std::set<Piece, ByLength> gaps;
  std::vector<Piece> out;
  for (const Piece& piece : change.pieces) {
    count(change.work);
    if (piece.party == kGap) {
      gaps.insert(piece);
    } else {
      out.push_back(piece);
    }
  }
  std::vector<Party> takers(change.need.size());
  std::iota(takers.begin(), takers.end(), Party{0});
  counted_sort(
      takers,
      [&](Party a, Party b) {
        return change.need[a] != change.need[b] ? change.need[a] > change.need[b] : a < b;
      },
      change.work);
  const uint64_t search_steps = std::bit_width(gaps.size()) + 1u;
  for (const Party taker : takers) {
    for (u128& need = change.need[taker]; need > 0;) {
      count(change.work, search_steps);
      auto fit = gaps.lower_bound({0, need, kGap});
      if (fit == gaps.end()) fit = std::prev(fit);
      const Piece gap = *fit;
      gaps.erase(fit);
      const u128 units = std::min(need, gap.length);
      need -= units;
      out.push_back({gap.begin, units, taker});
      if (units < gap.length) gaps.insert(tail_of(gap, units, kGap));
    }
  }
  change.pieces = std::move(out);
}

}  // namespace

void collect_coalescing(Rebalance& change) {
  release_smallest_slices(change);
  Cuts cuts(change);
  cuts.choose();
  cuts.make();
  change.pieces = with_joined_gaps(change.pieces);
  extend_neighbours(change);
  assign_best_fit(change);
}

}  // namespace tidemark::hashring
