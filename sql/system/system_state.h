// What the system tables are computed from: the cluster and the session as they are when a statement reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "proto/catalog.pb.h"
#include "proto/facts.pb.h"
#include "sql/plan/catalog_plans.h"

namespace tidemark::sql {

struct SystemSetting {
  std::string name, value, description;
};

// How far a view is. What is not known is left out.
struct ViewStatus {
  TableId view;
  std::string state;  // Empty: what the catalog says: "created", "filling" or "ready".
  // The oldest change that it does not reflect yet, and where the lane lies that is behind; 0 if it reflects
  // every write.
  std::optional<int64_t> lag_records;
  std::optional<double> lag_ms;
  std::optional<int64_t> lag_region, lag_lane;  // Only if it is behind.
  // While it is being filled.
  std::optional<double> backfill_percent;
  std::optional<int64_t> backfill_rows_per_second;
  std::optional<int64_t> backfill_rows_per_second_max;  // None: there is no limit.
  std::optional<double> backfill_seconds_left;
};

// Pointers may be null: then there are no such rows. What they point to must outlive the call it is passed
// to.
struct SystemState {
  const pb::Catalog* catalog = nullptr;
  const CatalogPlans* plans = nullptr;  // Of that catalog.
  const pb::RegionMap* regions = nullptr;
  const pb::RingFact* ring = nullptr;
  std::vector<pb::ProcessFact> nodes, view_managers;  // Those alive.
  std::vector<SystemSetting> settings;                // Of the session.
  std::vector<ViewStatus> views;
  std::string user, database;  // Of the session.
};

}  // namespace tidemark::sql
