// The figures of the papers, recomputed.
#include <cmath>
#include <map>
#include <memory>

#include "cli/ring_file.h"
#include "cli/ring_subcommands.h"
#include "cli/svg.h"
#include "hashring/analysis/load_simulation.h"
#include "hashring/analysis/replica_spread.h"
#include "hashring/analysis/slice_history.h"
#include "hashring/analysis/statistics.h"
#include "hashring/analysis/token_ring_analysis.h"

namespace tidemark {
namespace {

using hashring::GapCollection;
using hashring::History;
using hashring::ReplicaPlacement;
using hashring::Workload;

struct Options {
  std::string what;
  uint32_t draws = 1000;
  uint32_t seeds = 10;
  uint32_t members = 16;
  uint32_t rounds = 40;
  std::string workload = "production-like";
  std::string plot;
};

constexpr uint32_t kPaperShards = 4096, kPaperTokens = 64;

Result<Report> allocation(const Options&) {
  ReportTable table{"allocation", {"nodes", "tokens", "N*T/Q", "explicit %", "1-exp(-N*T/Q) %"}};
  const std::pair<uint32_t, uint32_t> shapes[] = {{32, 32},   {32, 64},   {64, 64},   {128, 64},
                                                  {64, 256},  {512, 32},  {128, 256}, {1024, 32},
                                                  {64, 1024}, {1024, 64}, {32, 4096}, {256, 1024}};
  for (const auto& [nodes, tokens] : shapes) {
    const auto row = hashring::explicit_allocation(kPaperShards, nodes, tokens, nodes + tokens);
    table.rows.push_back({Cell::number(uint64_t{nodes}), Cell::number(uint64_t{tokens}),
                          Cell::number(row.tokens_per_shard, 2), Cell::number(100 * row.explicit_share, 2),
                          Cell::number(100 * (1 - std::exp(-row.tokens_per_shard)), 2)});
  }
  Report report;
  report.fields = {{"shards", Cell::number(uint64_t{kPaperShards})},
                   {"paper", "about 98% of shards are explicitly allocated when N*T is 4*Q"}};
  report.tables = {std::move(table)};
  return report;
}

Result<Report> handoff(const Options& options) {
  const uint32_t draws = std::max(1u, options.draws / 10);
  ReportTable table{"handoff", {"nodes before", "handed off %", "1/(N+1) %"}};
  for (const uint32_t nodes : {1u, 2u, 4u, 8u, 9u, 10u, 16u, 32u, 64u}) {
    table.rows.push_back(
        {Cell::number(uint64_t{nodes}),
         Cell::number(100 * hashring::handoff_share(kPaperShards, nodes, kPaperTokens, draws), 2),
         Cell::number(100.0 / (nodes + 1), 2)});
  }
  Report report;
  report.fields = {{"shards", Cell::number(uint64_t{kPaperShards})},
                   {"tokens", Cell::number(uint64_t{kPaperTokens})},
                   {"draws", Cell::number(uint64_t{draws})},
                   {"paper", "below 10% when the environment grows over 8 nodes"}};
  report.tables = {std::move(table)};
  return report;
}

struct Printed {
  const char* place;
  hashring::Spread spread;
};
constexpr Printed kPrinted[] = {{"primary", {5.58, 6.25, 0.79, 7.34}},
                                {"replica 1", {5.57, 6.25, 0.79, 7.34}},
                                {"replica 2", {5.57, 6.25, 0.79, 7.33}},
                                {"replica 3", {5.57, 6.25, 0.78, 7.33}}};

Result<Report> balance(const Options& options) {
  const auto spreads = hashring::load_spread(kPaperShards, 16, kPaperTokens, 3, options.draws);
  ReportTable table{
      "balance",
      {"place", "figure", "paper", "mean of draws", "5% of draws", "95% of draws", "draws below paper %"}};
  const std::pair<const char*, double hashring::Spread::*> figures[] = {{"Q1", &hashring::Spread::q1},
                                                                        {"E", &hashring::Spread::mean},
                                                                        {"sigma", &hashring::Spread::sigma},
                                                                        {"Q3", &hashring::Spread::q3}};
  for (size_t place = 0; place < spreads.size(); ++place) {
    for (const auto& [name, figure] : figures) {
      std::vector<double> sample;
      for (const hashring::Spread& spread : spreads[place]) sample.push_back(spread.*figure);
      const double printed = kPrinted[place].spread.*figure;
      table.rows.push_back({kPrinted[place].place, name, Cell::number(printed, 2),
                            Cell::number(hashring::mean(sample), 2),
                            Cell::number(hashring::quantile(sample, 0.05), 2),
                            Cell::number(hashring::quantile(sample, 0.95), 2),
                            figure == &hashring::Spread::mean
                                ? Cell::missing()  // Always 1/N.
                                : Cell::number(100 * hashring::share_below(sample, printed), 1)});
    }
  }
  Report report;
  report.fields = {{"shards", Cell::number(uint64_t{kPaperShards})},
                   {"tokens", Cell::number(uint64_t{kPaperTokens})},
                   {"nodes", Cell::number(uint64_t{16})},
                   {"draws", Cell::number(uint64_t{options.draws})}};
  report.tables = {std::move(table)};
  return report;
}

constexpr std::pair<const char*, GapCollection> kCollections[] = {
    {"greedy", GapCollection::Greedy},
    {"cut-shift", GapCollection::CutShiftSorted},
    {"coalescing", GapCollection::Coalescing}};

hashring::Members first_nodes(uint32_t count) {
  return hashring::members_of(History::Growing, count, 0, 0).front();
}

hashring::SliceRing grown(GapCollection collection, const std::vector<uint32_t>& counts) {
  hashring::SliceRing ring = hashring::SliceRing::unowned(hashring::kHashSpace);
  for (const uint32_t count : counts) ring = *hashring::reslice(ring, first_nodes(count), collection);
  return ring;
}

ReportTable thesis_slices() {
  ReportTable table{"thesis", {"collection", "3", "3,4", "4", "4,5", "4,5,7", "4,5,7,10"}};
  table.rows.push_back({"thesis, greedy", "3", "6", "4", "8", "-", "-"});
  for (const auto& [name, collection] : kCollections) {
    std::vector<Cell> row = {name};
    for (const auto& counts :
         std::vector<std::vector<uint32_t>>{{3}, {3, 4}, {4}, {4, 5}, {4, 5, 7}, {4, 5, 7, 10}}) {
      row.push_back(Cell::number(uint64_t{grown(collection, counts).slice_count()}));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The same history with many seeds: one of them may flatter anyone.
std::vector<Cell> history_row(const char* history_name, History history, const char* name,
                              GapCollection collection, const Options& options) {
  const uint32_t length = history == History::Growing ? std::min(options.draws, 112u) : options.draws;
  std::vector<double> early, end;
  double moved = 0, least = 0;
  for (uint64_t seed = 0; seed < options.seeds; ++seed) {
    hashring::run_history(history, collection, hashring::kHashSpace, options.members, length, seed,
                          [&](const hashring::HistoryStep& step) {
                            const auto slices = static_cast<double>(step.slices);
                            if (step.change == std::min(10u, length)) early.push_back(slices);
                            if (step.change == length) end.push_back(slices);
                            moved += step.moved;
                            least += step.minimum;
                          });
  }
  return {history_name,
          name,
          Cell::number(hashring::quantile(early, 0.5), 0),
          Cell::number(hashring::quantile(end, 0), 0),
          Cell::number(hashring::quantile(end, 0.5), 0),
          Cell::number(hashring::quantile(end, 1), 0),
          Cell::number(moved / least, 6)};
}

Result<Report> slices(const Options& options) {
  ReportTable table{
      "history",
      {"history", "collection", "after 10", "end, least", "end, median", "end, most", "moved/least"}};
  const std::pair<const char*, History> histories[] = {{"one joins each time", History::Growing},
                                                       {"one joins, one leaves", History::Churning},
                                                       {"one is replaced", History::Replacing},
                                                       {"one changes weight", History::Reweighting}};
  for (const auto& [history_name, history] : histories) {
    for (const auto& [name, collection] : kCollections) {
      table.rows.push_back(history_row(history_name, history, name, collection, options));
    }
  }
  Report report;
  report.fields = {{"ring", "2^64 units"},
                   {"members", Cell::number(uint64_t{options.members})},
                   {"changes", Cell::number(uint64_t{options.draws})},
                   {"seeds", Cell::number(uint64_t{options.seeds})}};
  report.tables = {thesis_slices(), std::move(table)};
  return report;
}

struct ThesisDivergence {
  const char* placement;
  ReplicaPlacement kind;
  const char* four_nodes;  // Table B.1, keys, read-heavy and write-heavy.
  const char* seven_nodes;
};
constexpr ThesisDivergence kDivergences[] = {
    {"clockwise", ReplicaPlacement::Clockwise, "-", "-"},
    {"random", ReplicaPlacement::Random, "0.0001, 0.0104", "0.0016, 0.0005"},
    {"rotation", ReplicaPlacement::Rotation, "0.0243, 0.0248", "0.0163, 0.0192"},
    {"jumping", ReplicaPlacement::Jumping, "0.0005, 0.0005", "0.0469, 0.0205"}};

Result<Report> replicas(const Options&) {
  constexpr uint64_t kKeys = 100'000;
  ReportTable table{
      "replicas",
      {"nodes", "collection", "placement", "divergence", "thesis", "queries per list", "peak/mean"}};
  const std::pair<const char*, std::vector<uint32_t>> rings[] = {
      {"3", {3}}, {"3,4", {3, 4}}, {"3,4,7", {3, 4, 7}}, {"4,5,7,10", {4, 5, 7, 10}}};
  for (const auto& [nodes, counts] : rings) {
    for (const auto& [collection_name, collection] : kCollections) {
      if (collection == GapCollection::CutShiftSorted) continue;
      const hashring::SliceRing ring = grown(collection, counts);
      for (const ThesisDivergence& row : kDivergences) {
        const auto spread = hashring::replica_spread(ring, row.kind, 3, kKeys);
        const char* printed = counts.back() == 4   ? row.four_nodes
                              : counts.back() == 7 ? row.seven_nodes
                              : counts.back() == 3 && row.kind != ReplicaPlacement::Clockwise ? "0, 0"
                                                                                              : "-";
        table.rows.push_back({nodes, collection_name, row.placement, Cell::number(spread.divergence, 4),
                              collection == GapCollection::Greedy ? printed : "-",
                              Cell::number(spread.queries_per_list, 2),
                              Cell::number(spread.largest_over_mean, 3)});
      }
    }
  }
  Report report;
  report.fields = {{"keys", Cell::number(kKeys)}, {"replicas", Cell::number(uint64_t{3})}};
  report.tables = {std::move(table)};
  return report;
}

constexpr std::pair<const char*, Workload> kWorkloads[] = {{"single-query", Workload::SingleQuery},
                                                           {"production-like", Workload::ProductionLike},
                                                           {"shifting", Workload::Shifting}};

Status plot_load(const std::string& path, const std::string& title,
                 const std::vector<hashring::LoadRound>& rounds) {
  Panel imbalance{
      "imbalance", "peak / mean load", {{"never moved", {}}, {"weighted-move", {}}, {"hottest shard", {}}}};
  Panel churn{"churn", "% of shards", {{"moved", {}}}};
  for (const hashring::LoadRound& round : rounds) {
    imbalance.lines[0].values.push_back(round.unbalanced);
    imbalance.lines[1].values.push_back(round.before);
    imbalance.lines[2].values.push_back(round.best_possible);
    churn.lines[0].values.push_back(round.moved_percent);
  }
  return write_text(path, svg_of_panels(title, "round", {imbalance, churn}));
}

Result<Report> weighted_move(const Options& options) {
  const auto workload = std::find_if(std::begin(kWorkloads), std::end(kWorkloads),
                                     [&](const auto& named) { return named.first == options.workload; });
  if (workload == std::end(kWorkloads)) return Error{"there is no workload '" + options.workload + "'"};
  const auto rounds = hashring::simulate_load(
      {.workload = workload->second, .members = options.members, .rounds = options.rounds});
  ReportTable table{"rounds",
                    {"round", "never moved", "before", "after", "hottest shard", "moved %", "slices"}};
  for (const hashring::LoadRound& round : rounds) {
    table.rows.push_back({Cell::number(uint64_t{round.round}), Cell::number(round.unbalanced, 3),
                          Cell::number(round.before, 3), Cell::number(round.after, 3),
                          Cell::number(round.best_possible, 3), Cell::number(round.moved_percent, 2),
                          Cell::number(uint64_t{round.slices})});
  }
  Report report;
  report.fields = {{"workload", options.workload},
                   {"members", Cell::number(uint64_t{options.members})},
                   {"rounds", Cell::number(uint64_t{options.rounds})}};
  if (!options.plot.empty()) {
    TM_TRY(plot_load(options.plot, options.workload + ", " + std::to_string(options.members) + " members",
                     rounds));
    report.fields.emplace_back("plot", options.plot);
  }
  report.tables = {std::move(table)};
  return report;
}

const std::map<std::string, Result<Report> (*)(const Options&)> kAnalyses = {
    {"allocation", allocation}, {"handoff", handoff},   {"balance", balance},
    {"slices", slices},         {"replicas", replicas}, {"weighted-move", weighted_move}};

}  // namespace

RingSubcommand add_ring_analyze(CLI::App& ring) {
  CLI::App* app =
      ring.add_subcommand("analyze", "Recomputes the figures of the papers that placement comes from");
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const auto& [name, run] : kAnalyses) names.push_back(name);
  app->add_option("what", options->what, CLI::detail::join(names, ", "))
      ->required()
      ->check(CLI::IsMember(names));
  app->add_option("--draws", options->draws, "random rings: balance, handoff (a tenth); changes: slices")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1'000'000u));
  app->add_option("--seeds", options->seeds, "histories of each kind: slices")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1000u));
  app->add_option("--members", options->members, "slices, weighted-move")
      ->capture_default_str()
      ->check(CLI::Range(2u, 1000u));
  app->add_option("--rounds", options->rounds, "weighted-move")
      ->capture_default_str()
      ->check(CLI::Range(1u, 10'000u));
  app->add_option("--workload", options->workload, "single-query, production-like or shifting: weighted-move")
      ->capture_default_str();
  app->add_option("--plot", options->plot, "SVG file to write: weighted-move");
  return {app, [options] { return kAnalyses.at(options->what)(*options); }};
}

}  // namespace tidemark
