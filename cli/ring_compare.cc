#include <chrono>
#include <memory>

#include "cli/ring_subcommands.h"
#include "hashring/analysis/comparison.h"
#include "hashring/mix.h"

namespace tidemark {
namespace {

using hashring::StrategyKind;

constexpr uint64_t kLookups = 500'000;
constexpr int kRepeats = 5;

template <typename Work>
double seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The fastest of some runs: the others were disturbed.
template <typename Work>
double best_seconds(Work work) {
  double best = seconds(work);
  for (int i = 1; i < kRepeats; ++i) best = std::min(best, seconds(work));
  return best;
}

struct Lookup {
  double array_ns, slices_ns;
};

Lookup measure_lookup(const hashring::Assignment& ring) {
  const hashring::SliceRing slices = hashring::to_slices(ring);
  uint64_t sum = 0;
  const auto each = [&](auto owner) {
    return [&, owner] {
      for (uint64_t i = 0; i < kLookups; ++i) sum += owner(hashring::mix(i)).value;
    };
  };
  const double array = best_seconds(each([&](uint64_t hash) { return ring.owner(ring.shard_of(hash)); }));
  const double search = best_seconds(
      each([&](uint64_t hash) { return slices.owner_of(hashring::unit_of(hash, slices.size())); }));
  // Used, so that it is computed.
  const double used = sum == 0 ? 1e-18 : 0;
  return {(array + used) * 1e9 / kLookups, search * 1e9 / kLookups};
}

double milliseconds_to_join(const hashring::Standing& standing) {
  hashring::Members members = standing.members;
  members.push_back({hashring::MemberId{1'000'000}, "one-more", 1});
  const auto load = hashring::flat_load(standing.ring.shards(), members.size());
  return 1e3 * best_seconds([&] {
           static_cast<void>(hashring::plan({.kind = standing.kind}, members, standing.ring, load).ok());
         });
}

Cell percent_of(const std::optional<hashring::Moved>& moved) {
  return moved ? Cell::number(100 * moved->share, 2) : Cell("refused");
}

Cell times_minimum(const std::optional<hashring::Moved>& moved) {
  return moved ? Cell::number(moved->share / moved->minimum, 2) : Cell("refused");
}

Result<Report> compare(const hashring::Contest& contest) {
  if (contest.members + 1 > contest.shards) return Error{"more members than shards"};
  Report report;
  report.fields = {{"shards", Cell::number(uint64_t{contest.shards})},
                   {"members", Cell::number(uint64_t{contest.members})},
                   {"changes", Cell::number(uint64_t{contest.changes})},
                   {"least moved percent, one joins", Cell::number(100.0 / (contest.members + 1), 2)},
                   {"least moved percent, one leaves", Cell::number(100.0 / contest.members, 2)}};
  ReportTable table{"strategies",
                    {"strategy", "weights", "join moves %", "leave moves %", "history, x least", "peak/mean",
                     "sigma %", "slices", "array ns", "slices ns", "change ms"}};
  for (const StrategyKind kind : hashring::all_strategies()) {
    const hashring::Standing standing = hashring::compare(kind, contest);
    const Lookup lookup = measure_lookup(standing.ring);
    table.rows.push_back({std::string(hashring::name_of(kind)), standing.takes_weights ? "yes" : "no",
                          percent_of(standing.join), percent_of(standing.leave),
                          times_minimum(standing.history), Cell::number(standing.peak_over_mean, 3),
                          Cell::number(standing.sigma_percent, 2),
                          Cell::number(uint64_t{hashring::to_slices(standing.ring).slice_count()}),
                          Cell::number(lookup.array_ns, 2), Cell::number(lookup.slices_ns, 2),
                          Cell::number(milliseconds_to_join(standing), 3)});
  }
  report.tables = {std::move(table)};
  return report;
}

}  // namespace

RingSubcommand add_ring_compare(CLI::App& ring) {
  CLI::App* app = ring.add_subcommand("compare", "All strategies put to the same changes, in one table");
  auto contest = std::make_shared<hashring::Contest>();
  app->add_option("--shards", contest->shards, "shards")
      ->capture_default_str()
      ->check(CLI::Range(2u, hashring::kShardsMax));
  app->add_option("--members", contest->members, "members at the start")
      ->capture_default_str()
      ->check(CLI::Range(2u, 100'000u));
  app->add_option("--changes", contest->changes, "of the long history")->capture_default_str();
  return {app, [contest] { return compare(*contest); }};
}

}  // namespace tidemark
