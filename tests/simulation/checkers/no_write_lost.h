// Nothing acknowledged is lost, nothing is done twice, nothing that was refused is done: every acknowledged
// put is in the log exactly once and before its token, and what a key had was written in an order that fits
// what clients heard.
#pragma once

#include <map>
#include <set>

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class NoWriteLost : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "no acknowledged write lost"; }

  void on_record(const SeenRecord& record, const SeenStream& stream) override;
  void on_write_begun(const ClientWrite& write) override;
  void on_write_answered(const ClientWrite& write, Heard heard, const LaneRuns& tokens) override;
  void on_settled() override;

 private:
  struct Put {
    Micros begun;
    Micros acknowledged{-1};
    bool refused = false;
    std::optional<Position> at;
    std::string row;  // Table and key.
  };
  void note(const LaneStep& step);

  std::map<int64_t, Put> puts_;  // By stamp.
  // Per row: the latest beginning of a put that the log has; one that was acknowledged before it began is
  // late.
  std::map<std::string, Micros> latest_begun_;
};

}  // namespace tidemark::sim
