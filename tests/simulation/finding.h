// A property that did not hold.
#pragma once

#include <string>

#include "base/types.h"

namespace tidemark::sim {

struct Finding {
  std::string property;
  std::string what;
  Micros at;  // On the simulated clock.
};

}  // namespace tidemark::sim
