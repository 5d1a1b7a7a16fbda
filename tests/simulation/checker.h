// A checker watches a run for one property and says when it does not hold. Each sees the same evidence: what
// lies in the logs, what is sent, what clients did and heard. None sees the inside of the roles, but for the
// figures of memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lane_runs.h"
#include "net/transport.h"
#include "proto/operation.h"
#include "tests/simulation/finding.h"
#include "tests/simulation/history.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_cluster.h"
#include "tests/simulation/tables.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/views.h"
#include "tests/simulation/witness.h"

namespace tidemark::sim {

// What a client asked for, row by row.
struct RowWrite {
  OperationKind kind;
  std::string table;
  std::string key;
  uint64_t hash = 0;
  std::optional<int64_t> stamp;  // Of what is to be put, and unique; none: a delete.
  std::optional<Row> expected;   // Of a comparison.
  uint32_t affected = 0;         // As told, if it was acknowledged.
};
struct ClientWrite {
  uint64_t number = 0;
  std::vector<RowWrite> rows;
  bool whole = false;     // All rows or none.
  size_t failed_row = 0;  // If it failed.
  Micros begun;
  bool among_faults = true;  // If not, nothing keeps it from being done.
};
enum class Heard : uint8_t {
  Acknowledged,
  Unknown,
  Failed,   // Not done, since the row was not as it should be.
  NotDone,  // For another reason.
};

// Rows of one lane, asked for at once.
struct ClientRead {
  std::string table;  // A base table, or a view that copies one ...
  std::string base;   // ... this one.
  ShardId lane;
  std::vector<KeyOfTable> keys;      // Of the base table.
  std::map<std::string, Row> found;  // By key of the base table.
  Micros begun;
  std::optional<Position> after;  // Waited for before reading: all before it must be seen.
};

// The world as a checker sees it.
struct Evidence {
  const Scenario& scenario;
  SimCluster& cluster;
  const Tables& tables;
  const Witness& witness;
  const RowHistory& history;
  const std::vector<ViewSpec>& views;  // Alive.
  std::vector<Finding>& findings;
  Trace& trace;
  std::function<size_t()> writes_in_flight;
  std::function<std::string()> unfinished;  // Of what operators asked for; empty: all has ended.

  Micros now() const { return cluster.world().scheduler.now(); }
};

class Checker {
 public:
  explicit Checker(Evidence& evidence) : evidence_(evidence) {}
  virtual ~Checker() = default;
  virtual const char* property() const = 0;

  virtual void on_record(const SeenRecord&, const SeenStream&) {}
  virtual void on_trimmed(const SeenStream&, Offset) {}
  virtual void on_removed(const SeenStream&) {}
  virtual void on_message(const Address&, const Address&, const pb::Message&) {}
  virtual void on_fact_written(SessionNumber, const std::string&, const std::string&) {}  // Path and data.
  virtual void on_write_begun(const ClientWrite&) {}
  virtual void on_write_answered(const ClientWrite&, Heard, const LaneRuns&) {}
  virtual void on_read(const ClientRead&) {}
  virtual void on_sample() {}  // Now and then.
  // There are no faults any more: what is not yet as it must be in the end? Empty: all is. May run the world.
  virtual std::string unrest() { return ""; }
  // Everything has come to rest, and a time passes in which nobody asks for anything.
  virtual void on_quiet_begins() {}
  virtual void on_settled() {}

 protected:
  void violated(const std::string& what) {
    evidence_.trace.say("VIOLATED", property(), what);
    if (evidence_.findings.size() < 20) evidence_.findings.push_back({property(), what, evidence_.now()});
  }

  Evidence& evidence_;
};

// One of each, in checkers/.
std::vector<std::unique_ptr<Checker>> make_checkers(Evidence& evidence);

}  // namespace tidemark::sim
