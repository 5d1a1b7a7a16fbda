#include "hashring/analysis/token_ring_analysis.h"

#include "hashring/analysis/statistics.h"
#include "hashring/mix.h"
#include "hashring/preference_list.h"
#include "hashring/token_ring.h"

namespace tidemark::hashring {

namespace {

TokenRing ring_of(uint32_t shards, uint32_t tokens, const Members& nodes) {
  return *TokenRing::of({.bits = 64, .shards = shards, .tokens = tokens}, nodes);
}

std::string address(uint64_t bits) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8)
    text += (text.empty() ? "" : ".") + std::to_string(bits >> shift & 255);
  return text;
}

// Shards per node for each place in the preference list.
std::vector<std::vector<double>> shares(const Assignment& assignment, uint32_t nodes, uint32_t replicas) {
  std::vector<std::vector<double>> share(replicas + 1, std::vector<double>(nodes));
  const SliceRing ring = to_slices(assignment);
  for (size_t i = 0; i < ring.slice_count(); ++i) {  // All shards of a slice have the same list.
    const Slice slice = ring.slice(i);
    PreferenceList list(ring, ReplicaPlacement::Clockwise, slice.begin);
    for (auto& place : share)
      place[list.next()->value] += 100 * static_cast<double>(slice.length) / assignment.shards();
  }
  return share;
}

}  // namespace

Members random_nodes(uint32_t count, uint64_t number) {
  Members nodes;
  for (uint32_t i = 0; i < count; ++i) {
    // The index keeps two equal draws apart.
    nodes.push_back({MemberId{i}, address(draw(number, i)) + ":" + std::to_string(i), 1});
  }
  return nodes;
}

Allocation explicit_allocation(uint32_t shards, uint32_t nodes, uint32_t tokens, uint64_t seed) {
  const TokenRing ring = ring_of(shards, tokens, random_nodes(nodes, seed));
  return {nodes, tokens, double{1} * nodes * tokens / shards,
          static_cast<double>(ring.claimed_count()) / shards};
}

double handoff_share(uint32_t shards, uint32_t nodes, uint32_t tokens, uint32_t draws) {
  double moved = 0;
  for (uint32_t i = 0; i < draws; ++i) {
    const Members members = random_nodes(nodes + 1, i);
    const TokenRing before = ring_of(shards, tokens, Members(members.begin(), members.end() - 1));
    const auto moves = *diff(before.assignment(), before.join(members.back())->assignment());
    for (const Move& move : moves) moved += move.shards.count();
  }
  return moved / shards / draws;
}

std::vector<std::vector<Spread>> load_spread(uint32_t shards, uint32_t nodes, uint32_t tokens,
                                             uint32_t replicas, uint32_t draws) {
  std::vector<std::vector<Spread>> spreads(replicas + 1);
  for (uint32_t i = 0; i < draws; ++i) {
    const Assignment assignment = ring_of(shards, tokens, random_nodes(nodes, i)).assignment();
    const auto share = shares(assignment, nodes, replicas);
    for (size_t place = 0; place < share.size(); ++place) {
      spreads[place].push_back({quantile(share[place], 0.25), mean(share[place]), sigma(share[place]),
                                quantile(share[place], 0.75)});
    }
  }
  return spreads;
}

}  // namespace tidemark::hashring
