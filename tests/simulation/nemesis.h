// What goes wrong with processes, connections, disks and sessions while clients work; all at random, all
// mended in the end. Faults of single messages, appends and requests are the network's, the log's and the
// coordination service's own.
#pragma once

#include <map>
#include <string>

#include "base/random.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_cluster.h"
#include "tests/simulation/trace.h"

namespace tidemark::sim {

class Nemesis {
 public:
  // `client`: the session of one that shares its host with nodes, and is cut off with them.
  Nemesis(SimCluster& cluster, const Scenario& scenario, Random random, Trace& trace, SimSession& client);

  static constexpr Micros kInterval{20'000};
  // To be called every kInterval of the safety phase.
  void act();
  // Everything is mended: processes run, messages and appends arrive, disks take what they are given. But for
  // one that never comes back, if there is one to be lost.
  void mend(SimProcess* lost);
  // All that run crash at once, and begin anew.
  void restart_all();

  // Faults so far, by kind; also those of single messages, appends and requests.
  std::map<std::string, uint64_t> counts() const;

 private:
  // Of something that happens so often per second.
  bool happens(double per_second);
  Micros until_mended();
  void hurt(SimProcess& process);
  void end_process(SimProcess& process);
  void partition();
  void cut_off();
  void reach_again();
  void disturb_disks();

  SimCluster& cluster_;
  const Scenario& scenario_;
  Random random_;
  Trace& trace_;
  SimSession& client_;
  std::map<std::string, uint64_t> counts_;
  std::map<SimProcess*, Micros> hurt_until_;
  std::map<SimProcess*, uint64_t> stopping_;  // In which of its lives.
  Micros partition_until_;
  SimProcess* cut_off_ = nullptr;
  Micros cut_off_until_;
  Micros outage_until_;
  std::map<int, Micros> refusing_until_;
  bool partitioned_ = false;
  bool outage_ = false;
};

}  // namespace tidemark::sim
