// The workloads of crash tests.
#pragma once

#include <memory>
#include <vector>

#include "tests/cluster/workload.h"

namespace tidemark::crash {

inline constexpr uint64_t kIdsPerWriter = 1'000'000'000;

// One row per transfer; both legs of each (a union all), summed by account and over all: the total is 0.
std::unique_ptr<Workload> make_ledger(const WorkloadOptions& options);
// Each row refers to one that was acknowledged before; a self join finds every reference.
std::unique_ptr<Workload> make_linked_list(const WorkloadOptions& options);
// Registers that one writer each overwrites, deletes and writes again; aggregates over them.
std::unique_ptr<Workload> make_registers(const WorkloadOptions& options);
// Counters that all writers increment: each increment once, or not at all.
std::unique_ptr<Workload> make_counters(const WorkloadOptions& options);
// Orders and customers, both changing; a join, and sums over the join.
std::unique_ptr<Workload> make_orders(const WorkloadOptions& options);

}  // namespace tidemark::crash
