#include <vector>

#include "cli/command.h"

int main(int argc, char** argv) {
  const std::vector<tidemark::CliCommand> commands = {};
  return tidemark::dispatch(commands, argc, argv);
}
