// `tidemark simulate`: random clusters under faults, in a simulated world, against checkers.
#pragma once

#include "cli/simulate_campaign.h"

namespace tidemark {

int simulate_command(int argc, char** argv);

// For tests, whose runs fail as they wish.
int simulate_command(int argc, char** argv, const RunScenario& run_scenario);

}  // namespace tidemark
