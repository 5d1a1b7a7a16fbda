#include <vector>

#include "cli/admin_command.h"
#include "cli/bench_command.h"
#include "cli/command.h"
#include "cli/node_command.h"
#include "cli/ring_command.h"
#include "cli/simulate_command.h"
#include "cli/sql_command.h"
#include "cli/up_command.h"
#include "cli/verify_command.h"
#include "cli/view_manager_command.h"
#include "cli/wal_command.h"

int main(int argc, char** argv) {
  const std::vector<tidemark::CliCommand> commands = {
      {"up", "runs a whole cluster in one process", tidemark::up_command},
      {"node", "runs a storage node of a cluster", tidemark::node_command},
      {"view-manager", "runs a view manager of a cluster", tidemark::view_manager_command},
      {"admin", "asks a cluster, and changes it", tidemark::admin_command},
      {"bench", "measures what keeping a view costs", tidemark::bench_command},
      {"ring", "computes, compares and explains placements of shards", tidemark::ring_command},
      {"simulate", "runs random clusters under faults, in a simulated world", tidemark::simulate_command},
      {"sql", "runs SQL against a node", tidemark::sql_command},
      {"verify", "compares views with their queries, computed anew", tidemark::verify_command},
      {"wal", "looks into WAL streams", tidemark::wal_command},
  };
  return tidemark::dispatch(commands, argc, argv);
}
