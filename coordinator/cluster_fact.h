// The one fact that a process must know before it can do anything: which cluster this is, and how many shards
// it has. The first process of a new cluster makes it.
#pragma once

#include <functional>

#include "base/random.h"
#include "base/scheduler.h"
#include "coordinator/coordination.h"
#include "proto/facts.pb.h"

namespace tidemark {

// Reads the fact, or creates it as `wanted` with a number drawn from `random`; tries again until it is there.
// Also makes the folders that processes register in. `done` is called once, on the loop.
// REQUIRES: coordination, scheduler and random outlive the wait.
void find_cluster(Coordination& coordination, Scheduler& scheduler, Random& random, pb::ClusterFact wanted,
                  std::function<void(const pb::ClusterFact&)> done);

// The same without creating it: for processes that do not decide what a cluster is.
void await_cluster(Coordination& coordination, Scheduler& scheduler,
                   std::function<void(const pb::ClusterFact&)> done);

}  // namespace tidemark
