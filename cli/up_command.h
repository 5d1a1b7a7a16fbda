// `tidemark up`: a whole cluster in one process.
#pragma once

namespace tidemark {

int up_command(int argc, char** argv);

}  // namespace tidemark
