// Convergence: when writes stop, every view equals its query evaluated from scratch, and every base table is
// what the logs say. Reads by a client, evaluates by the oracle.
#pragma once

#include <optional>
#include <string>

#include "tests/simulation/checker.h"
#include "tests/simulation/evaluator.h"

namespace tidemark::sim {

class Convergence {
 public:
  explicit Convergence(Evidence& evidence) : evidence_(evidence) {}

  // Runs the world while it reads. Empty: all is as it should be; else the first difference.
  std::string difference();

 private:
  std::optional<Rows> read(const std::string& table);
  std::string compare(const std::string& table, Rows want);

  Evidence& evidence_;
};

}  // namespace tidemark::sim
