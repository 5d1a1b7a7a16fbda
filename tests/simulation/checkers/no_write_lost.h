// Nothing acknowledged is lost, nothing is done twice, nothing that was refused is done. Every acknowledged
// put is in the log exactly once, by then, and before its token; a row whose delete was acknowledged was
// absent between the request and the answer; what depends on what is there lies in the log after that, and
// fails only if it was not there.
#pragma once

#include <map>

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class NoWriteLost : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "no acknowledged write lost"; }

  void on_record(const SeenRecord& record, const SeenStream& stream) override;
  void on_write_begun(const ClientWrite& write) override;
  void on_write_answered(const ClientWrite& write, Heard heard, const LaneRuns& tokens) override;

 private:
  struct Put {
    RowWrite asked;
    bool refused = false;
    std::optional<Position> at;
  };
  void note(const LaneStep& step);
  // Was the row as the answer tells, at some time since the request?
  void check_answer(const RowWrite& row, Heard heard, Micros begun);

  std::map<int64_t, Put> puts_;  // By stamp.
};

}  // namespace tidemark::sim
