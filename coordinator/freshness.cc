#include "coordinator/freshness.h"

#include <algorithm>
#include <cstdio>

#include "proto/convert.h"

namespace tidemark {

namespace {

// The owner's report, while it can be believed to be new.
const pb::RegionStatus* report_of(const Situation& now, const pb::RegionEntry& entry) {
  const pb::RegionStatus* status = now.status(entry.region(), entry.owner());
  return status && status->owner() && now.is_node_alive(entry.owner()) ? status : nullptr;
}

void add_lag(const pb::RegionStatus& status, const std::set<uint32_t>& tables, pb::ViewFreshness& out) {
  for (const pb::TableLag& lag : status.table_lags()) {
    if (!tables.contains(lag.table())) continue;
    out.set_lag_records(std::max(out.lag_records(), lag.records()));
    if (out.lag_region() != 0 && lag.micros() <= out.lag_micros()) continue;
    out.set_lag_micros(lag.micros());
    out.set_lag_region(status.region());
    out.set_lag_lane(status.lag_lane());
  }
}

bool is_through(const pb::RegionStatus& status, uint32_t view) {
  return std::count(status.backfilling().begin(), status.backfilling().end(), view) == 0;
}

// The view's backfill, taken over all regions: their shares by their shards, and the longest time left.
struct WholeBackfill {
  uint64_t shards = 0;
  uint64_t done = 0;  // Millionths, times shards.
  uint64_t rows_per_second = 0;
  int64_t micros_left = 0;
  bool is_time_known = true;

  void add(const pb::RegionEntry& entry, const pb::RegionStatus& status, uint32_t view) {
    uint64_t size = from_pb(entry.shards()).size();
    shards += size;
    if (is_through(status, view)) {
      done += size * 1'000'000;
      return;
    }
    auto here = std::find_if(status.backfills().begin(), status.backfills().end(),
                             [view](const auto& one) { return one.view() == view; });
    if (here == status.backfills().end()) {
      is_time_known = false;
      return;
    }
    done += size * here->done_per_million();
    rows_per_second += here->rows_per_second();
    is_time_known = is_time_known && here->micros_left() >= 0;
    micros_left = std::max(micros_left, here->micros_left());
  }

  pb::BackfillProgress progress(const pb::TableDefinition& view) const {
    pb::BackfillProgress out;
    out.set_view(view.id());
    if (view.has_backfill_rows_per_second()) out.set_rows_per_second_max(view.backfill_rows_per_second());
    out.set_done_per_million(static_cast<uint32_t>(done / std::max<uint64_t>(1, shards)));
    out.set_rows_per_second(rows_per_second);
    out.set_micros_left(is_time_known && !is_paused(out) ? micros_left : -1);
    return out;
  }
};

pb::ViewFreshness freshness_of(const Situation& now, const FeedGraph& graph,
                               const pb::TableDefinition& view) {
  pb::ViewFreshness out;
  out.set_view(view.id());
  out.set_name(view.name());
  std::set<uint32_t> tables = graph.tables_that_feed(view.id());
  WholeBackfill backfill;
  for (const pb::RegionEntry* entry : now.live_regions()) {
    const pb::RegionStatus* status = report_of(now, *entry);
    if (!status) {
      out.set_regions_unreported(out.regions_unreported() + 1);
      continue;
    }
    add_lag(*status, tables, out);
    backfill.add(*entry, *status, view.id());
  }
  out.set_state(view.begun() == 0    ? pb::ViewFreshness::WAITING
                : view.filled() != 0 ? pb::ViewFreshness::READY
                                     : pb::ViewFreshness::BACKFILLING);
  if (out.state() == pb::ViewFreshness::BACKFILLING) *out.mutable_backfill() = backfill.progress(view);
  return out;
}

std::string decimal(int64_t value, int64_t unit) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(value) / static_cast<double>(unit));
  return text;
}

std::string describe_backfill(const pb::BackfillProgress& backfill) {
  std::string out = "backfilling: " + decimal(backfill.done_per_million(), 10'000) + "%";
  if (is_paused(backfill)) return out + ", paused";
  if (backfill.rows_per_second() > 0) out += ", " + std::to_string(backfill.rows_per_second()) + " rows/s";
  if (backfill.has_rows_per_second_max())
    out += ", at most " + std::to_string(backfill.rows_per_second_max()) + " rows/s";
  if (backfill.micros_left() >= 0) out += ", " + decimal(backfill.micros_left(), 1'000'000) + " s left";
  return out;
}

}  // namespace

bool is_paused(const pb::BackfillProgress& backfill) {
  return backfill.has_rows_per_second_max() && backfill.rows_per_second_max() == 0;
}

FeedGraph::FeedGraph(const pb::Catalog& catalog) {
  for (const pb::TableDefinition& table : catalog.tables()) {
    if (table.dropped() != 0) continue;
    for (uint32_t of : {table.id(), table.view()}) {
      if (of == 0) continue;
      std::vector<uint32_t>& sources = sources_[of];
      sources.insert(sources.end(), table.sources().begin(), table.sources().end());
    }
  }
}

std::set<uint32_t> FeedGraph::tables_that_feed(uint32_t view) const {
  std::set<uint32_t> out;
  std::vector<uint32_t> next{view};
  while (!next.empty()) {
    auto sources = sources_.find(next.back());
    next.pop_back();
    if (sources == sources_.end()) continue;
    for (uint32_t source : sources->second)
      if (out.insert(source).second) next.push_back(source);
  }
  return out;
}

pb::FreshnessReply freshness_of(const Situation& now) {
  pb::FreshnessReply out;
  FeedGraph graph(now.facts.catalog);
  for (const pb::TableDefinition& table : now.facts.catalog.tables()) {
    if (table.kind() == pb::VIEW && table.dropped() == 0) *out.add_views() = freshness_of(now, graph, table);
  }
  std::sort(out.mutable_views()->begin(), out.mutable_views()->end(),
            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  return out;
}

std::string describe_freshness(const pb::ViewFreshness& view) {
  std::string out = "ready, reflects every write";
  if (view.state() == pb::ViewFreshness::WAITING) {
    out = "waiting for every region";
  } else if (view.state() == pb::ViewFreshness::BACKFILLING) {
    out = describe_backfill(view.backfill());
  } else if (view.lag_records() > 0) {
    out = "ready, " + std::to_string(view.lag_records()) + " records and " +
          decimal(view.lag_micros(), 1'000) + " ms behind (lane " + std::to_string(view.lag_lane()) +
          " of region " + std::to_string(view.lag_region()) + ")";
  }
  if (view.regions_unreported() > 0)
    out += ", " + std::to_string(view.regions_unreported()) + " regions not reported";
  return out;
}

}  // namespace tidemark
