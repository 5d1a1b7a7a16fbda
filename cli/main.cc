#include <vector>

#include "cli/admin_command.h"
#include "cli/command.h"
#include "cli/ring_command.h"
#include "cli/simulate_command.h"
#include "cli/sql_command.h"
#include "cli/wal_command.h"

int main(int argc, char** argv) {
  const std::vector<tidemark::CliCommand> commands = {
      {"admin", "asks a cluster, and changes it", tidemark::admin_command},
      {"ring", "computes, compares and explains placements of shards", tidemark::ring_command},
      {"simulate", "runs random clusters under faults, in a simulated world", tidemark::simulate_command},
      {"sql", "runs SQL against a node", tidemark::sql_command},
      {"wal", "looks into WAL streams", tidemark::wal_command},
  };
  return tidemark::dispatch(commands, argc, argv);
}
