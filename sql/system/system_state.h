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
  std::optional<double> backfill_percent;
  std::optional<int64_t> lag_changes;
  std::optional<int64_t> errors;
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
