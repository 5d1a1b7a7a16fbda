#include <vector>

#include "cli/command.h"
#include "cli/ring_command.h"

int main(int argc, char** argv) {
  const std::vector<tidemark::CliCommand> commands = {
      {"ring", "computes, compares and explains placements of shards", tidemark::ring_command},
  };
  return tidemark::dispatch(commands, argc, argv);
}
