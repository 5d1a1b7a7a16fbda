// What must be so in the end, once there are no faults any more.
#pragma once

#include "tests/simulation/checker.h"
#include "tests/simulation/convergence.h"

namespace tidemark::sim {

// P2: every request ends, every region is served again, whoever died, and takes writes.
class P2Termination : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "P2 termination"; }
  void on_write_answered(const ClientWrite& write, Heard heard, const LaneRuns&) override {
    // Where there is no room for every client's session, they expire each other's.
    const bool has_session = evidence_.scenario.sessions_max > evidence_.scenario.clients;
    if (!write.among_faults && has_session && heard != Heard::Acknowledged)
      violated("write " + std::to_string(write.number) + " was not done, though no fault met it");
  }
  std::string unrest() override {
    const size_t writes = evidence_.writes_in_flight();
    if (writes > 0) return std::to_string(writes) + " writes were never answered";
    return evidence_.cluster.serving() ? "" : "a region is not served";
  }
};

// P3: every change of membership, of regions and of the catalog ends.
class P3ChangesEnd : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "P3 changes end"; }
  std::string unrest() override { return evidence_.unfinished(); }
};

// A merged region is one part in the end, and takes a batch for all its shards at once.
class PartsUnite : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "parts unite"; }
  void on_message(const Address&, const Address&, const pb::Message& message) override {
    const pb::RegionStatus& status = message.region_status();
    if (message.has_region_status() && status.owner()) parts_[status.region()] = status.parts();
  }
  std::string unrest() override {
    const pb::RegionMap map = evidence_.cluster.region_map();
    for (const pb::RegionEntry& entry : map.regions()) {
      if (entry.sealed() || parts_[entry.region()] <= 1) continue;
      return "region " + std::to_string(entry.region()) + " is in " + std::to_string(parts_[entry.region()]) +
             " parts";
    }
    return "";
  }

 private:
  std::map<uint64_t, uint64_t> parts_;  // By region, as its owner told last.
};

// When writes stop, every view equals its query evaluated from scratch.
class ViewsConverge : public Checker {
 public:
  explicit ViewsConverge(Evidence& evidence) : Checker(evidence), convergence_(evidence) {}
  const char* property() const override { return "convergence"; }
  // Reading all views is not for every time: while view managers are busy, only now and then.
  std::string unrest() override {
    if (is_busy() && ++busy_ % 20 != 0) return "view managers are busy";
    return convergence_.difference();
  }

 private:
  bool is_busy() {
    for (int i = 0; i < evidence_.cluster.view_manager_count(); ++i) {
      const ViewManager* role = evidence_.cluster.view_manager_role(i);
      if (role && role->core() && !role->core()->idle()) return true;
    }
    return false;
  }

  Convergence convergence_;
  uint64_t busy_ = 0;
};

// A quiet system is silent: nothing is written, in logs or facts, while nobody asks for anything.
class Silence : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "silence"; }
  void on_fact_written(SessionNumber, const std::string& path, const std::string&) override {
    ++(path.ends_with(paths::kRegionMap) ? floors_ : facts_);
    newest_fact_ = path;
  }
  void on_quiet_begins() override {
    records_ = evidence_.witness.record_count();
    facts_ = floors_ = 0;
  }
  void on_settled() override {
    const uint64_t more = evidence_.witness.record_count() - records_;
    if (more > 0) violated("a quiet system wrote " + std::to_string(more) + " records");
    // Checkpoints are saved later than all comes to rest, and then each log is cut once more.
    const auto regions = static_cast<uint64_t>(evidence_.cluster.region_map().regions_size());
    if (facts_ > 0 || floors_ > regions)
      violated("a quiet system wrote " + std::to_string(facts_ + floors_) + " facts, " + newest_fact_);
  }

 private:
  uint64_t records_ = 0;
  uint64_t facts_ = 0;
  uint64_t floors_ = 0;  // The map, where the floors lie.
  std::string newest_fact_;
};

}  // namespace tidemark::sim
