#include "hashring/analysis/comparison.h"

#include <algorithm>
#include <map>

#include "hashring/analysis/slice_history.h"
#include "hashring/analysis/statistics.h"

namespace tidemark::hashring {

namespace {

constexpr uint64_t kSlicesPerMember = 64;
constexpr uint64_t kSeed = 1;

Result<Assignment> next_ring(StrategyKind kind, const Members& members, const Assignment& present) {
  Result<Plan> next = plan({.kind = kind}, members, present, flat_load(present.shards(), members.size()));
  if (!next) return next.error();
  return (*std::move(next)).assignment;
}

double share_moved(const Assignment& old, const Assignment& next) {
  double moved = 0;
  for (const Move& move : *diff(old, next)) moved += move.shards.count();
  return moved / old.shards();
}

double least_share(size_t before, size_t after) {
  return 1.0 / static_cast<double>(std::max(before, after));
}

// Nothing if a change was refused.
std::optional<Moved> run(StrategyKind kind, const std::vector<Members>& history, Assignment& ring) {
  Moved total{0, 0};
  for (size_t i = 1; i < history.size(); ++i) {
    Result<Assignment> next = next_ring(kind, history[i], ring);
    if (!next) return std::nullopt;
    total.share += share_moved(ring, *next);
    total.minimum += least_share(history[i - 1].size(), history[i].size());
    ring = *std::move(next);
  }
  return total;
}

void measure_balance(Standing& standing) {
  std::map<MemberId, double> counts;
  for (const Member& member : standing.members) counts[member.id] = 0;
  for (const MemberId owner : standing.ring.owners()) ++counts[owner];
  std::vector<double> sample;
  for (const auto& [member, count] : counts) sample.push_back(count);
  standing.peak_over_mean = *std::max_element(sample.begin(), sample.end()) / mean(sample);
  standing.sigma_percent = 100 * sigma(sample) / mean(sample);
}

bool takes_weights(StrategyKind kind, const Assignment& ring, Members members) {
  members.front().weight = 2;
  return next_ring(kind, members, ring).ok();
}

}  // namespace

std::vector<SliceLoad> flat_load(uint32_t shards, size_t members) {
  const uint64_t count = std::min<uint64_t>(shards, kSlicesPerMember * members);
  std::vector<SliceLoad> load;
  for (uint64_t i = 0; i < count; ++i) {
    const ShardRange slice{static_cast<uint32_t>(i * shards / count),
                           static_cast<uint32_t>((i + 1) * shards / count)};
    load.push_back({slice, slice.count()});
  }
  return load;
}

Standing compare(StrategyKind kind, const Contest& contest) {
  const std::vector<Members> grown = members_of(History::Growing, contest.members, 1, kSeed);
  const Assignment start = *next_ring(kind, grown[0], Assignment::unowned(contest.shards));
  Standing standing{.kind = kind,
                    .takes_weights = takes_weights(kind, start, grown[0]),
                    .join = {},
                    .leave = {},
                    .history = {},
                    .peak_over_mean = 0,
                    .sigma_percent = 0,
                    .ring = start,
                    .members = grown[1]};
  standing.join = run(kind, grown, standing.ring);

  Members fewer = grown[0];
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(fewer.size() / 2));
  Assignment after_leave = start;
  standing.leave = run(kind, {grown[0], fewer}, after_leave);

  const std::vector<Members> churned = members_of(History::Churning, contest.members, contest.changes, kSeed);
  Assignment after_history = start;
  standing.history = run(kind, churned, after_history);
  if (standing.history) {
    standing.ring = after_history;
    standing.members = churned.back();
  }
  measure_balance(standing);
  return standing;
}

}  // namespace tidemark::hashring
