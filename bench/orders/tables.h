// The tables and the view of a run, made in a cluster that serves.
#pragma once

#include <string>

#include "bench/orders/bench_client.h"
#include "bench/orders/views.h"

namespace tidemark::bench {

// Orders, customers and the view "v", empty but for customers 1 .. count where the view needs them.
Result<pb::Catalog> make_tables(BenchClient& client, ViewKind kind, uint64_t customers);

// What a run looks at in the end: the view, or without one the orders.
const pb::TableDefinition& watched_table(const pb::Catalog& catalog, ViewKind kind);
// REQUIRES: there is one.
const pb::TableDefinition& find_table(const pb::Catalog& catalog, const std::string& name);

}  // namespace tidemark::bench
