// A record as a line for people: what it did to which rows, and for whom.
#pragma once

#include <string>

#include "tests/simulation/tables.h"
#include "tests/simulation/witness.h"

namespace tidemark::sim {

std::string describe(const SeenRecord& record, const Tables& tables, ShardCount shards);

}  // namespace tidemark::sim
