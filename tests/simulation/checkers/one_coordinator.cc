#include "tests/simulation/checkers/one_coordinator.h"

#include <algorithm>

#include "coordinator/facts.h"

namespace tidemark::sim {

void OneCoordinator::on_fact_written(SessionNumber session, const std::string& path, const std::string&) {
  const EntryTree& tree = evidence_.cluster.world().coordination.entries();
  const auto candidates = tree.children(paths::kElection);
  if (!candidates.ok() || candidates->empty())
    return violated("nobody is elected, and " + path + " is written");
  // Names are GUID-NUMBER: the lowest number is at the head.
  auto number = [](const std::string& name) { return name.substr(name.rfind('-') + 1); };
  const auto head = std::min_element(candidates->begin(), candidates->end(),
                                     [&](const auto& a, const auto& b) { return number(a) < number(b); });
  const auto entry = tree.get(session, std::string(paths::kElection) + "/" + *head);
  if (!entry.ok() || !entry->own_ephemeral) violated(path + " is written by one who is not elected");
}

}  // namespace tidemark::sim
