// The processes below one, as /proc shows them now.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tidemark::servers {

// Parents before their children; `root` itself is not among them.
std::vector<pid_t> descendants_of(pid_t root);

}  // namespace tidemark::servers
