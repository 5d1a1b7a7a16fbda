// The coordinator's core: news in, the next step out. Deterministic; decides by facts and news alone, so that
// a successor with the same facts, once it has heard the same news, goes on where this one was.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/situation.h"
#include "coordinator/steps.h"

namespace tidemark {

namespace news {
struct Elected {};
struct Deposed {};
struct FactsRead {
  ClusterFacts facts;
};
struct NodesAlive {
  Members members;
};
struct ViewManagersAlive {
  Members members;
};
struct StatusesReported {
  std::vector<pb::RegionStatus> statuses;  // Many regions report at once: one decision for all.
};
struct TimePassed {};
// The end of a write that was commanded, or of one for an operator.
struct Written {
  ClusterFacts facts;
};
struct WriteFailed {};  // Or its outcome is unknown: the facts must be read again.
}  // namespace news
using CoordinatorNews =
    std::variant<news::Elected, news::Deposed, news::FactsRead, news::NodesAlive, news::ViewManagersAlive,
                 news::StatusesReported, news::TimePassed, news::Written, news::WriteFailed>;

struct CoordinatorClock {
  Micros now;               // The loop's; never goes back.
  int64_t wall_micros = 0;  // For people.
};

// In this order: what is told is told only of what has been written.
struct CoordinatorCommands {
  bool read_facts = false;
  std::optional<Step> write;
  bool tell_to_look_again = false;
  std::vector<std::string> launch;  // Identities.
};

class Coordinator {
 public:
  Coordinator(CoordinatorSettings settings, uint64_t entropy);

  // After Elected it asks for the facts, and from then on for one write at a time.
  void step(const CoordinatorNews& news, const CoordinatorClock& clock, CoordinatorCommands& out);

  // Elected, and the facts are known: operators can be answered.
  bool is_ready() const { return facts_.has_value() && !writing_; }
  bool is_elected() const { return elected_; }
  // An operator's change is written instead of the next step. REQUIRES: is_ready().
  void begin_write() { writing_ = true; }

  const Members& nodes() const { return observed_.nodes; }
  const Members& view_managers() const { return observed_.view_managers; }
  // REQUIRES: is_ready(), and no step() while it is used.
  Situation situation() const { return Situation(*facts_, observed_, settings_); }

 private:
  void on(const news::Elected&, CoordinatorCommands& out);
  void on(const news::Deposed&, CoordinatorCommands& out);
  void on(const news::FactsRead& news, CoordinatorCommands& out);
  void on(const news::NodesAlive& news, CoordinatorCommands& out);
  void on(const news::ViewManagersAlive& news, CoordinatorCommands& out);
  void on(const news::StatusesReported& news, CoordinatorCommands& out);
  void on(const news::TimePassed&, CoordinatorCommands&) {}
  void on(const news::Written& news, CoordinatorCommands& out);
  void on(const news::WriteFailed&, CoordinatorCommands& out);
  void decide(CoordinatorCommands& out);
  void note_absences();
  void forget_last_boot(const std::string& node, uint64_t boot);
  void forget_statuses();

  const CoordinatorSettings settings_;
  bool elected_ = false;
  bool writing_ = false;
  bool nodes_known_ = false;  // Nobody counts as dead before those who are alive have been seen.
  bool view_managers_known_ = false;
  std::optional<ClusterFacts> facts_;
  Observed observed_;
  std::map<std::string, uint64_t> boots_;  // Of each node's last process.
};

}  // namespace tidemark
