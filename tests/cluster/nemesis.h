// Does to a cluster what the world does to one: one fault after another, sometimes two at once, often while a
// region moves. A seed decides the order.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/cluster/faults.h"
#include "tests/cluster/key_log.h"
#include "tests/cluster/probe.h"

namespace tidemark::crash {

struct FaultReport {
  uint64_t count = 0;
  std::chrono::milliseconds recovery_longest{0};  // From its repair until every row could be written.
  std::chrono::milliseconds wait_longest{0};      // Of a write, from the fault to the recovery.
};

class Nemesis {
 public:
  // REQUIRES: both outlive it; the probe runs.
  // `only`: of the kinds that have it in their name.
  Nemesis(FaultWorld world, Probe& probe, const std::string& only);

  // Every kind once, in a random order; then random ones until the time is over. Says what it does. Throws
  // ServerError if the cluster does not come back.
  void run(std::chrono::seconds duration);

  uint64_t faults() const;
  const std::map<std::string, FaultReport>& report() const { return report_; }
  // Processes that ended by themselves.
  const Findings& findings() const { return findings_; }

 private:
  using Clock = Probe::Clock;
  struct Struck {
    const Fault* fault;
    std::function<void()> repair;
  };

  void run_until(Clock::time_point end);
  void strike(const Fault& fault);
  bool inject(const Fault& fault, std::vector<Struck>& struck);
  void inject_another(Target but_not, std::vector<Struck>& struck);
  void hold();
  void repair(std::vector<Struck>& struck);
  void await_recovery(const std::vector<Struck>& struck, Clock::time_point repaired);
  void revive();
  void say(const std::string& what) const;

  FaultWorld world_;
  Probe& probe_;
  std::vector<Fault> faults_;
  std::map<std::string, FaultReport> report_;
  Findings findings_;
  const Clock::time_point began_ = Clock::now();
};

}  // namespace tidemark::crash
