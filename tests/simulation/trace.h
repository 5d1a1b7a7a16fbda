// What happened in a run, line by line, for people. Costs nothing while it is off.
#pragma once

#include <functional>
#include <sstream>
#include <string>

#include "base/scheduler.h"

namespace tidemark::sim {

class Trace {
 public:
  // Lines go to the sink at once, so that they are there if the run ends by an assertion. Empty: off.
  using Sink = std::function<void(const std::string& line)>;
  Trace(const Scheduler& world, Sink sink) : world_(world), sink_(std::move(sink)) {}

  bool on() const { return sink_ != nullptr; }
  template <typename... Words>
  void say(const Words&... words) {
    if (!on()) return;
    std::ostringstream line;
    line << world_.now().value / 1000 << '.' << (world_.now().value % 1000) / 100 << " ms";
    ((line << ' ' << words), ...);
    sink_(line.str());
  }

 private:
  const Scheduler& world_;
  Sink sink_;
};

}  // namespace tidemark::sim
