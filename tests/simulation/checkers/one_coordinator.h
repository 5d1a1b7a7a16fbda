// At most one coordinator decides at a time: every fact is written by the session at the head of the
// election.
#pragma once

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class OneCoordinator : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "P1 one coordinator at a time"; }
  void on_fact_written(SessionNumber session, const std::string& path, const std::string& data) override;
};

}  // namespace tidemark::sim
