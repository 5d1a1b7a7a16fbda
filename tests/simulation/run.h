// One run of a scenario: a safety phase with faults, then a liveness phase in which all must converge,
// watched by every checker. The same scenario gives the same report, on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/finding.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/trace.h"

namespace tidemark::sim {

using Tallies = std::map<std::string, uint64_t>;

struct RunReport {
  std::vector<Finding> findings;  // Empty: all held.
  uint64_t state_hash = 0;        // Of all logs, of what readers found, of all counts and of the clock.
  Tallies work;                   // What clients did and heard.
  Tallies changes;                // What operators did: accepted, and what of it was done in the end.
  Tallies faults;
  Tallies deviations;  // Legal ones, at buggify points.
  Tallies probes;      // Rare branches that were reached.
  Micros simulated;

  uint64_t fault_count() const;
  // Of regions and nodes; done, not only accepted.
  uint64_t region_changes() const;
  uint64_t view_manager_changes() const;
};

RunReport run_scenario(const Scenario& scenario, const Trace::Sink& trace = {});

}  // namespace tidemark::sim
