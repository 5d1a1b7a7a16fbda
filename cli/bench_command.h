// `tidemark bench`: what keeping a view costs, on this machine.
#pragma once

namespace tidemark {

int bench_command(int argc, char** argv);

}  // namespace tidemark
