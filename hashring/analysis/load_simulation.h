// Weighted-move round after round under a workload: imbalance and churn over time.
#pragma once

#include "hashring/weighted_move.h"

namespace tidemark::hashring {

enum class Workload : uint8_t {
  SingleQuery,     // One key is asked for, again and again: all load on one shard.
  ProductionLike,  // Requests fall by a power law: the shard of rank r gets 1/r of the first's, plus a floor.
  Shifting,        // The same, and every ten rounds other shards are the popular ones.
};

struct LoadSimulation {
  Workload workload = Workload::ProductionLike;
  uint32_t shards = 16384;
  uint32_t members = 16;
  uint32_t slices_per_member = 64;  // At the start: the ring equally split.
  uint32_t rounds = 40;
  MovePolicy policy = {};
};

struct LoadRound {
  uint32_t round;
  double unbalanced;     // Imbalance of this round's load on the ring of the start, never changed.
  double before;         // On the ring that met the load,
  double after;          // and on the one that weighted-move made of it.
  double moved_percent;  // Of the shards, in this round.
  double best_possible;  // The hottest shard alone over the mean member: no placement is below.
  size_t slices;
};

std::vector<LoadRound> simulate_load(const LoadSimulation& simulation);

}  // namespace tidemark::hashring
