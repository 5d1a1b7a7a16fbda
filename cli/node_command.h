// `tidemark node`: a storage node of a cluster, with its coordinator and its SQL gateway.
#pragma once

namespace tidemark {

int node_command(int argc, char** argv);

}  // namespace tidemark
