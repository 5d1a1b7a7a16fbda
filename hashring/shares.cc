#include "hashring/shares.h"

#include <numeric>

#include "hashring/counted.h"

namespace tidemark::hashring {

namespace {

struct Rest {
  u128 units;
  u128 weight;
};

// Members whose proportional share is below one unit get one; what is left is shared by the others. Taking
// the lightest first settles who they are in one pass: a member that is not below one unit of what is left
// can only gain when a lighter one is taken out.
Rest give_single_units(RingSize size, const Members& members, const std::vector<size_t>& by_weight,
                       std::vector<u128>& shares, size_t& given) {
  Rest rest{size.units, 0};
  for (const Member& member : members) rest.weight += member.weight;
  for (given = 0; given < by_weight.size(); ++given) {
    const uint64_t weight = members[by_weight[given]].weight;
    if (rest.units * weight >= rest.weight) break;
    shares[by_weight[given]] = 1;
    rest.units -= 1;
    rest.weight -= weight;
  }
  return rest;
}

}  // namespace

std::vector<u128> fair_shares(RingSize size, const Members& members, std::span<const u128> held, Work* work) {
  std::vector<u128> shares(members.size());
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  counted_sort(
      order,
      [&](size_t a, size_t b) { return std::pair(members[a].weight, a) < std::pair(members[b].weight, b); },
      work);
  size_t given = 0;
  const Rest rest = give_single_units(size, members, order, shares, given);
  order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(given));

  std::vector<u128> remainder(members.size());
  u128 left = rest.units;
  for (const size_t i : order) {
    const u128 scaled = rest.units * members[i].weight;
    shares[i] = scaled / rest.weight;
    remainder[i] = scaled % rest.weight;
    left -= shares[i];
    count(work);
  }
  const auto holds_more = [&](size_t i) { return !held.empty() && held[i] > shares[i]; };
  counted_sort(
      order,
      [&](size_t a, size_t b) {
        if (remainder[a] != remainder[b]) return remainder[a] > remainder[b];
        if (holds_more(a) != holds_more(b)) return holds_more(a);
        return a < b;
      },
      work);
  for (size_t i = 0; i < static_cast<size_t>(left); ++i) ++shares[order[i]];
  return shares;
}

}  // namespace tidemark::hashring
