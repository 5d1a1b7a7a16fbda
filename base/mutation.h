// Deliberate bugs, for proof that the simulation finds them. In a build with TIDEMARK_MUTATIONS one of them
// can be switched on by name, in programs without a flag for it by TIDEMARK_MUTATION in the environment; in
// any other build TM_MUTATION is the constant false and costs nothing.
#pragma once

#ifdef TIDEMARK_MUTATIONS

#include <string>
#include <vector>

#include "base/probe.h"

namespace tidemark {

// Every name that occurs in the program.
std::vector<std::string> mutation_names();
// "": none. False: there is no such mutation. Before any thread is started.
bool choose_mutation(const std::string& name);

namespace detail {
size_t register_mutation(const char* name);
bool is_chosen_mutation(size_t number);
template <ProbeName kName>
struct MutationSite {
  static inline const size_t number = register_mutation(kName.text);
};
}  // namespace detail

}  // namespace tidemark

#define TM_MUTATION(name) \
  ::tidemark::detail::is_chosen_mutation(::tidemark::detail::MutationSite<name>::number)

#else

#define TM_MUTATION(name) false

#endif
