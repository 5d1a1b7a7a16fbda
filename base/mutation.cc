#include "base/mutation.h"

#ifdef TIDEMARK_MUTATIONS

#include <cstdlib>

namespace tidemark {
namespace {

size_t chosen = SIZE_MAX;

std::vector<std::string>& known_names() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

size_t detail::register_mutation(const char* name) {
  const size_t number = enlist(known_names(), name);
  const char* wanted = std::getenv("TIDEMARK_MUTATION");
  if (wanted != nullptr && known_names()[number] == wanted) chosen = number;
  return number;
}

bool detail::is_chosen_mutation(size_t number) {
  return number == chosen;
}

std::vector<std::string> mutation_names() {
  return known_names();
}

bool choose_mutation(const std::string& name) {
  chosen = SIZE_MAX;
  if (name.empty()) return true;
  for (size_t i = 0; i < known_names().size(); ++i) {
    if (known_names()[i] == name) chosen = i;
  }
  return chosen != SIZE_MAX;
}

}  // namespace tidemark

#endif
