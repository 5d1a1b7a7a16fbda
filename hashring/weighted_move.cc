#include "hashring/weighted_move.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hashring/members.h"

namespace tidemark::hashring {

namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;
constexpr size_t kNobody = SIZE_MAX;

struct Piece {
  ShardRange shards;
  size_t owner;  // Index into the nodes, or kNobody.
  uint64_t load;
};

struct Node {
  MemberId id;
  uint64_t weight;
  u128 load = 0;
  size_t slices = 0;
  uint64_t room = kNoLimit;  // Shards it may still receive.
};

Error bad_load(std::string why) {
  return {Refusal::LoadUnusable, "load " + std::move(why)};
}

Status check_load(std::span<const SliceLoad> load, uint32_t shards) {
  if (load.empty()) return bad_load("per slice is missing");
  uint32_t at = 0;
  u128 total = 0;
  for (const SliceLoad& slice : load) {
    if (slice.shards.first != at || slice.shards.end <= at) {
      return bad_load("must cover the ring in order, each shard once: see shard " + std::to_string(at));
    }
    at = slice.shards.end;
    total += slice.load;
  }
  if (at != shards) return bad_load("ends at shard " + std::to_string(at) + " of " + std::to_string(shards));
  if (total > UINT64_MAX / 2) return bad_load("adds up to more than 2^63");
  return accepted();
}

class Balancer {
 public:
  Balancer(const MovePolicy& policy, const Members& members, const Assignment& present,
           std::span<const SliceLoad> load)
      : policy_(policy), shards_(present.shards()) {
    for (const Member& member : members) {
      numbers_[member.id.value] = nodes_.size();
      nodes_.push_back({.id = member.id, .weight = member.weight});
    }
    limit_congested();
    for (const SliceLoad& slice : load) add_pieces(slice, present);
  }

  WeightedMovePlan run() {
    adopt_orphans();
    merge_cold();
    move_hot();
    split_hot();
    std::vector<MemberId> owners(shards_);
    for (const Piece& piece : pieces_) {
      std::fill(owners.begin() + piece.shards.first, owners.begin() + piece.shards.end,
                nodes_[piece.owner].id);
      plan_.slices.push_back(piece.shards);
    }
    plan_.assignment = Assignment(std::move(owners));
    return std::move(plan_);
  }

 private:
  void limit_congested() {
    if (policy_.in_transit_max == 0) return;
    for (Node& node : nodes_) node.room = policy_.in_transit_max;
    for (const InTransit& transit : policy_.in_transit) {
      const auto at = numbers_.find(transit.member.value);
      if (at == numbers_.end()) continue;
      uint64_t& room = nodes_[at->second].room;
      room -= std::min(room, transit.shards);
    }
  }

  // Cuts a measured slice where the owner changes; each part gets its share of the load, and the parts add
  // up to it exactly.
  void add_pieces(const SliceLoad& slice, const Assignment& present) {
    uint32_t first = slice.shards.first;
    for (uint32_t shard = first + 1; shard <= slice.shards.end; ++shard) {
      if (shard < slice.shards.end && present.owner({shard}) == present.owner({first})) continue;
      const auto before = [&](uint32_t end) {
        return static_cast<uint64_t>(u128{slice.load} * (end - slice.shards.first) / slice.shards.count());
      };
      const auto at = numbers_.find(present.owner({first}).value);
      const size_t owner = at == numbers_.end() ? kNobody : at->second;
      pieces_.push_back({{first, shard}, owner, before(shard) - before(first)});
      if (owner != kNobody) gain(owner, pieces_.back());
      first = shard;
    }
  }

  void gain(size_t owner, const Piece& piece) {
    nodes_[owner].load += piece.load;
    ++nodes_[owner].slices;
    total_load_ += piece.load;
  }
  void lose(size_t owner, const Piece& piece) {
    nodes_[owner].load -= piece.load;
    --nodes_[owner].slices;
    total_load_ -= piece.load;
  }
  void hand_over(Piece& piece, size_t heir) {
    if (piece.owner != kNobody) lose(piece.owner, piece);
    piece.owner = heir;
    gain(heir, piece);
    uint64_t& room = nodes_[heir].room;
    if (room != kNoLimit) room -= std::min<uint64_t>(room, piece.shards.count());
  }

  // Load per weight, compared without dividing.
  static bool is_hotter(u128 load, uint64_t weight, const Node& than) {
    return load * than.weight > than.load * weight;
  }
  size_t hottest() const {
    size_t best = 0;
    for (size_t i = 1; i < nodes_.size(); ++i) {
      if (is_hotter(nodes_[i].load, nodes_[i].weight, nodes_[best])) best = i;
    }
    return best;
  }
  // The coldest of those that may receive something; of equals, the one with the fewest slices.
  std::optional<size_t> coldest(uint64_t room_min) const {
    std::optional<size_t> best;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].room < room_min) continue;
      if (!best || is_hotter(nodes_[*best].load, nodes_[*best].weight, nodes_[i]) ||
          (!is_hotter(nodes_[i].load, nodes_[i].weight, nodes_[*best]) &&
           nodes_[i].slices < nodes_[*best].slices)) {
        best = i;
      }
    }
    return best;
  }

  // Slices of members that left must go somewhere, congested or not.
  void adopt_orphans() {
    for (Piece& piece : pieces_) {
      if (piece.owner != kNobody) continue;
      hand_over(piece, *coldest(0));
      plan_.orphaned_shards += piece.shards.count();
    }
  }

  void merge_cold() {
    uint64_t budget = uint64_t{shards_} * policy_.merge_percent_max / 100;
    const Node peak = nodes_[hottest()];
    std::vector<Piece> merged;
    size_t count = pieces_.size();
    for (const Piece& piece : pieces_) {
      if (merged.empty() || !try_merge(merged.back(), piece, count, peak, budget)) {
        merged.push_back(piece);
      } else {
        --count;
      }
    }
    pieces_ = std::move(merged);
  }

  // The one that moves fewer shards loses its slice.
  bool try_merge(Piece& left, const Piece& right, size_t count, const Node& peak, uint64_t& budget) {
    if ((u128{left.load} + right.load) * count >= total_load_) return false;  // Not below the mean slice.
    const bool left_moves = left.shards.count() < right.shards.count();
    const Piece& moving = left_moves ? left : right;
    const size_t heir = left_moves ? right.owner : left.owner;
    if (nodes_[moving.owner].slices <= policy_.merge_above) return false;
    const uint64_t cost = moving.owner == heir ? 0 : moving.shards.count();
    if (cost > 0) {
      const Node& to = nodes_[heir];
      if (cost > budget || cost > to.room || is_hotter(to.load + moving.load, to.weight, peak)) return false;
    }
    Piece joined{{left.shards.first, right.shards.end}, heir, left.load + right.load};
    lose(left.owner, left);
    lose(right.owner, right);
    gain(heir, joined);
    budget -= cost;
    plan_.merged_shards += cost;
    if (nodes_[heir].room != kNoLimit) nodes_[heir].room -= cost;
    left = joined;
    return true;
  }

  // Slices of the hottest member, by gain per shard moved, to the coldest. Only they can lower the peak.
  void move_hot() {
    std::vector<std::vector<size_t>> owned(nodes_.size());
    for (size_t i = 0; i < pieces_.size(); ++i) owned[pieces_[i].owner].push_back(i);
    uint64_t budget = uint64_t{shards_} * policy_.move_percent_max / 100;
    for (;;) {
      const size_t from = hottest();
      const std::optional<size_t> to = coldest(1);
      if (!to || from == *to) return;
      const std::optional<size_t> best = best_move(owned[from], nodes_[*to], budget);
      if (!best) return;
      Piece& piece = pieces_[*best];
      budget -= piece.shards.count();
      plan_.moved_shards += piece.shards.count();
      hand_over(piece, *to);
      std::erase(owned[from], *best);
      owned[*to].push_back(*best);
    }
  }

  // How far the hotter of the two falls, in load per weight times both weights.
  u128 gain_of(const Piece& piece, const Node& from, const Node& to) const {
    const u128 before = from.load * to.weight;
    const u128 after = std::max((from.load - piece.load) * to.weight, (to.load + piece.load) * from.weight);
    return after < before ? before - after : 0;
  }
  std::optional<size_t> best_move(const std::vector<size_t>& candidates, const Node& to,
                                  uint64_t budget) const {
    std::optional<size_t> best;
    u128 best_gain = 0;
    const uint64_t cost_max = std::min(budget, to.room);
    for (const size_t i : candidates) {
      const Piece& piece = pieces_[i];
      if (piece.shards.count() > cost_max) continue;
      const u128 gain = gain_of(piece, nodes_[piece.owner], to);
      if (gain == 0 || (best && !is_better(gain, piece, best_gain, pieces_[*best]))) continue;
      best = i;
      best_gain = gain;
    }
    return best;
  }
  // Gain per shard. Gains fit 64 + 64 bits only for extreme weights; then the low bits do not matter.
  static bool is_better(u128 gain, const Piece& piece, u128 best_gain, const Piece& best) {
    while (std::max(gain, best_gain) >> 96 != 0) {
      gain >>= 8;
      best_gain >>= 8;
    }
    return gain * best.shards.count() > best_gain * piece.shards.count();
  }

  // Halves are not moved now: the next measurement says which of them is hot.
  void split_hot() {
    std::vector<Piece> split;
    const size_t count = pieces_.size();
    for (const Piece& piece : pieces_) {
      const bool is_hot =
          piece.load > 0 && u128{piece.load} * count >= u128{policy_.split_factor} * total_load_;
      if (!is_hot || piece.shards.count() < 2 || nodes_[piece.owner].slices >= policy_.split_below) {
        split.push_back(piece);
        continue;
      }
      const uint32_t middle = piece.shards.first + piece.shards.count() / 2;
      split.push_back({{piece.shards.first, middle}, piece.owner, piece.load / 2});
      split.push_back({{middle, piece.shards.end}, piece.owner, piece.load - piece.load / 2});
      ++nodes_[piece.owner].slices;
    }
    pieces_ = std::move(split);
  }

  const MovePolicy& policy_;
  uint32_t shards_;
  std::unordered_map<uint32_t, size_t> numbers_;
  std::vector<Node> nodes_;
  std::vector<Piece> pieces_;  // In ring order; each lies within one owner's shards.
  u128 total_load_ = 0;
  WeightedMovePlan plan_;
};

}  // namespace

Result<WeightedMovePlan> weighted_move(const MovePolicy& policy, const Members& members,
                                       const Assignment& present, std::span<const SliceLoad> load) {
  if (Status status = check_members(members, present.size()); !status) return status.error();
  if (Status status = check_load(load, present.shards()); !status) return status.error();
  return Balancer(policy, members, present, load).run();
}

double imbalance(const Members& members, const Assignment& assignment, std::span<const SliceLoad> load) {
  std::unordered_map<uint32_t, double> by_owner;
  double total = 0, weight = 0, peak = 0;
  for (const SliceLoad& slice : load) {
    const double per_shard = static_cast<double>(slice.load) / slice.shards.count();
    for (uint32_t shard = slice.shards.first; shard < slice.shards.end; ++shard) {
      by_owner[assignment.owner({shard}).value] += per_shard;
    }
    total += static_cast<double>(slice.load);
  }
  for (const Member& member : members) {
    weight += static_cast<double>(member.weight);
    peak = std::max(peak, by_owner[member.id.value] / static_cast<double>(member.weight));
  }
  return total == 0 ? 1 : peak * weight / total;
}

}  // namespace tidemark::hashring
