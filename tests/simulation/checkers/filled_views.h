// A view is filled, and may be read without waiting, only when every lane has committed past its last page of
// it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/facts.h"
#include "proto/catalog.pb.h"
#include "proto/convert.h"
#include "tests/simulation/checker.h"

namespace tidemark::sim {

class FilledViews : public Checker {
 public:
  explicit FilledViews(Evidence& evidence)
      : Checker(evidence), committed_(evidence.cluster.options().shards.value) {}
  const char* property() const override { return "filled views are filled"; }

  void on_record(const SeenRecord& record, const SeenStream& stream) override {
    if (!record.body) return;
    for (const pb::LaneRun& run : record.body->progress().committed()) {
      for (uint32_t lane = run.lanes().begin(); lane < run.lanes().end(); ++lane)
        committed_[lane] = std::max(committed_[lane], from_pb(run.position()));
    }
    const pb::BackfillPage& page = record.body->backfill_page();
    if (!page.last()) return;
    const ShardRange shards = range_of(stream.region);
    for (ShardId lane = shards.begin; lane < shards.end; ++lane.value)
      ended_[page.view()][lane] = {stream.generation, Offset{record.at.value + 1}, 0};
  }

  void on_fact_written(SessionNumber, const std::string& path, const std::string& data) override {
    pb::Catalog catalog;
    if (path != paths::kCatalog || data.empty() || !catalog.ParseFromString(data.substr(1))) return;
    for (const pb::TableDefinition& table : catalog.tables()) {
      const bool is_filled = table.kind() == pb::VIEW && table.filled() != 0 && table.dropped() == 0;
      if (is_filled && filled_.insert(table.id()).second) check(table);
    }
  }

 private:
  void check(const pb::TableDefinition& view) {
    const ShardRange all = evidence_.cluster.options().shards.all();
    for (ShardId lane = all.begin; lane < all.end; ++lane.value) {
      const auto ended = ended_[view.id()].find(lane);
      if (ended != ended_[view.id()].end() && committed_[lane.value] >= ended->second) continue;
      return violated(view.name() + " is told to be filled, but lane " + std::to_string(lane.value) +
                      " has not committed past its last page");
    }
  }

  ShardRange range_of(RegionId region) {
    if (!ranges_.contains(region)) {
      const pb::RegionMap map = evidence_.cluster.region_map();
      for (const pb::RegionEntry& entry : map.regions())
        ranges_[RegionId{entry.region()}] = from_pb(entry.shards());
    }
    return ranges_[region];
  }

  std::vector<Position> committed_;                        // Recorded, per lane.
  std::map<uint32_t, std::map<ShardId, Position>> ended_;  // By view: after its last page.
  std::map<RegionId, ShardRange> ranges_;
  std::set<uint32_t> filled_;
};

}  // namespace tidemark::sim
