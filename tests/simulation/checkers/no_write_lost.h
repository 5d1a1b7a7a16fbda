// Nothing acknowledged is lost, nothing is done twice, nothing that was refused is done. Every acknowledged
// put is in the log exactly once, by then, and before its token; a row whose delete was acknowledged was
// absent between the request and the answer; what depends on what is there lies in the log after that, and
// fails only if it was not there; a write that is whole lies in one record.
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
    uint64_t write = 0;  // Its number.
    bool refused = false;
    std::optional<Position> at;
  };
  // The write that the row is of.
  std::optional<uint64_t> note(const LaneStep& step);
  // Was the row, or its absence, such at some time since the request?
  bool was(const RowWrite& row, Micros begun, const RowHistory::Such& such) const;
  // Was it as the answer tells?
  void check_failed(const RowWrite& row, Micros begun);
  void check_done(const RowWrite& row, Micros begun);

  std::map<int64_t, Put> puts_;              // By stamp.
  std::map<uint64_t, size_t> whole_writes_;  // How many rows each puts.
};

}  // namespace tidemark::sim
