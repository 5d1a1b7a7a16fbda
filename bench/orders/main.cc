#include "cli/bench_command.h"

int main(int argc, char** argv) {
  return tidemark::bench_command(argc, argv);
}
