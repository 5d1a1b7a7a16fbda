// How many files and sockets the process may have open.
#pragma once

#include <cstdint>

namespace tidemark {

// The soft limit, which most systems set low for the sake of programs that use select(), becomes the hard
// one. Gives the limit that holds then.
uint64_t raise_open_files_max();

}  // namespace tidemark
