// `tidemark simulate`: random clusters under faults, in a simulated world, against checkers.
#pragma once

namespace tidemark {

int simulate_command(int argc, char** argv);

}  // namespace tidemark
