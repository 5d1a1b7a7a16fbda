#include "tests/cluster/nemesis.h"

#include <algorithm>
#include <cstdio>

#include "tests/cluster/region_churn.h"

namespace tidemark::crash {
namespace {

constexpr std::chrono::minutes kRecoveryDeadline{3};
constexpr double kTwoAtOnce = 0.25;
constexpr double kRegionOperation = 0.4;
constexpr size_t kShownEnd = 1500;

std::string end_of(const std::string& text) {
  return text.size() <= kShownEnd ? text : "..." + text.substr(text.size() - kShownEnd);
}

}  // namespace

Nemesis::Nemesis(FaultWorld world, Probe& probe, const std::string& only)
    : world_(std::move(world)), probe_(probe), faults_(make_faults(world_)) {
  std::erase_if(faults_, [&](const Fault& fault) { return fault.kind.find(only) == std::string::npos; });
  if (faults_.empty()) throw servers::ServerError("no kind of fault has \"" + only + "\" in its name");
}

void Nemesis::run(std::chrono::seconds duration) {
  try {
    run_until(Clock::now() + duration);
  } catch (const servers::ServerError&) {
    say("the cluster does not come back:\n" + world_.cluster.admin({"status"}).text);
    throw;
  }
}

void Nemesis::run_until(Clock::time_point end) {
  std::vector<const Fault*> order;
  for (const Fault& fault : faults_) order.push_back(&fault);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[world_.random.below(i)]);
  for (const Fault* fault : order) strike(*fault);
  while (Clock::now() < end) strike(faults_[world_.random.below(faults_.size())]);
  world_.cluster.wait_until_settled();
}

uint64_t Nemesis::faults() const {
  uint64_t all = 0;
  for (const auto& [kind, report] : report_) all += report.count;
  return all;
}

void Nemesis::strike(const Fault& fault) {
  std::vector<Struck> struck;
  probe_.take_longest_wait();
  if (world_.random.chance(kRegionOperation)) {
    Words words = random_region_operation(world_.cluster.status(), world_.random);
    if (!words.empty()) world_.cluster.admin(words);
  }
  if (!inject(fault, struck)) return;
  if (world_.random.chance(kTwoAtOnce)) inject_another(fault.target, struck);
  hold();
  repair(struck);
  const auto repaired = Clock::now();
  await_recovery(struck, repaired);
}

bool Nemesis::inject(const Fault& fault, std::vector<Struck>& struck) {
  std::string what;
  auto repair = fault.inject(what);
  if (!repair) return false;
  say(fault.kind + ": " + what);
  struck.push_back({&fault, std::move(repair)});
  return true;
}

void Nemesis::inject_another(Target but_not, std::vector<Struck>& struck) {
  std::vector<const Fault*> others;
  for (const Fault& fault : faults_)
    if (fault.target != but_not) others.push_back(&fault);
  if (others.empty()) return;
  inject(*others[world_.random.below(others.size())], struck);
}

// Often for longer than a session lives, sometimes for a moment.
void Nemesis::hold() {
  const int64_t session = world_.cluster.shape().session_timeout.count();
  const int64_t millis = world_.random.chance(0.6) ? world_.random.between(session, session * 2)
                                                   : world_.random.between(0, session / 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(millis));
}

void Nemesis::repair(std::vector<Struck>& struck) {
  for (auto one = struck.rbegin(); one != struck.rend(); ++one) one->repair();
}

void Nemesis::await_recovery(const std::vector<Struck>& struck, Clock::time_point repaired) {
  servers::wait_until(
      "every row can be written again",
      [&] {
        revive();
        return probe_.all_written_since(repaired);
      },
      kRecoveryDeadline);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - repaired);
  const auto waited = probe_.take_longest_wait();
  for (const Struck& one : struck) {
    FaultReport& report = report_[one.fault->kind];
    ++report.count;
    report.recovery_longest = std::max(report.recovery_longest, took);
    report.wait_longest = std::max(report.wait_longest, waited);
  }
  say("  recovered in " + std::to_string(took.count()) + " ms, a write waited for " +
      std::to_string(waited.count()) + " ms");
}

// A process that ended without being asked to is a bug, and the run goes on to find others.
void Nemesis::revive() {
  for (const auto& members : {world_.cluster.nodes(), world_.cluster.view_managers()}) {
    for (Member* member : members) {
      if (member->process().running()) continue;
      findings_.push_back(member->name() + " ended by itself: " + end_of(member->process().said()));
      say("  " + findings_.back());
      member->process().start();
    }
  }
}

void Nemesis::say(const std::string& what) const {
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began_);
  std::printf("%5lld s  %s\n", static_cast<long long>(since.count()), what.c_str());
  std::fflush(stdout);
}

}  // namespace tidemark::crash
