// How stale each view is, from what the owners of regions have reported.
//
// A view is as stale as the oldest change that some lane has not committed yet, of the tables that feed it:
// its sources, theirs if they are views, and the auxiliary tables on the way. What a region says of a table
// holds for all lanes of the region, so the figures are never too low but for the second that a report may be
// old.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/situation.h"
#include "proto/messages.pb.h"

namespace tidemark {

// Which tables' changes reach a view.
class FeedGraph {
 public:
  explicit FeedGraph(const pb::Catalog& catalog);
  std::set<uint32_t> tables_that_feed(uint32_t view) const;

 private:
  std::map<uint32_t, std::vector<uint32_t>>
      sources_;  // Of a table, and of the auxiliary tables that are its own.
};

// All views, by name.
pb::FreshnessReply freshness_of(const Situation& now);

// As told by freshness_of(): an operator has paused it.
bool is_paused(const pb::BackfillProgress& backfill);

// For people: "ready, reflects every write", "ready, 12 records and 3.4 ms behind ...",
// "backfilling: 41.2% ...", "backfilling: 41.2%, paused".
std::string describe_freshness(const pb::ViewFreshness& view);

}  // namespace tidemark
