// `tidemark ring`: compute, diff, explain, plot, compare and analyze placements, without a cluster.
#pragma once

namespace tidemark {

// argv[0] is "ring". Returns an ExitCode.
int ring_command(int argc, char** argv);

}  // namespace tidemark
