// Probes mark rare branches: a simulation that never reached one has not tested it. Counting costs an
// increment of a number of the thread's own; nothing decides by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidemark {

// How often each probe of the program was reached by this thread since the last call of forget_probes().
// All that are in the program are there, also those at zero.
std::map<std::string, uint64_t> probe_counts();
void forget_probes();

namespace detail {

// The number of the name in the list: it is added at its end if it is not there.
size_t enlist(std::vector<std::string>& names, const char* name);

size_t register_probe(const char* name);  // Before main(). Gives the same number for the same name.
void count_probe(size_t number);

template <size_t kSize>
struct ProbeName {
  constexpr ProbeName(const char (&name)[kSize]) {
    for (size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }
  char text[kSize];
};

template <ProbeName kName>
struct ProbeSite {
  static inline const size_t number = register_probe(kName.text);
};

}  // namespace detail
}  // namespace tidemark

// TM_PROBE("region: a batch was dropped");
#define TM_PROBE(name) ::tidemark::detail::count_probe(::tidemark::detail::ProbeSite<name>::number)
