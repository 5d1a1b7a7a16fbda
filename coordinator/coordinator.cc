#include "coordinator/coordinator.h"

#include "base/assert.h"
#include "base/buggify.h"

namespace tidemark {

Coordinator::Coordinator(CoordinatorSettings settings, uint64_t entropy) : settings_(std::move(settings)) {
  observed_.entropy = entropy;
}

void Coordinator::step(const CoordinatorNews& news, const CoordinatorClock& clock, CoordinatorCommands& out) {
  TM_ASSERT(clock.now >= observed_.now);
  observed_.now = clock.now;
  observed_.wall_micros = clock.wall_micros;
  std::visit([&](const auto& one) { on(one, out); }, news);
  if (elected_ && facts_ && !writing_) decide(out);
}

void Coordinator::on(const news::Elected&, CoordinatorCommands& out) {
  elected_ = true;
  facts_.reset();
  observed_.statuses.clear();
  observed_.nodes_absent_since.clear();
  observed_.view_managers_absent_since.clear();
  out.read_facts = true;
  out.tell_to_look_again = true;  // So that everyone reports to this one.
}

void Coordinator::on(const news::Deposed&, CoordinatorCommands&) {
  elected_ = false;
  writing_ = false;
  facts_.reset();
}

void Coordinator::on(const news::FactsRead& news, CoordinatorCommands&) {
  if (!elected_) return;
  writing_ = false;
  facts_ = news.facts;
  note_absences();
}

void Coordinator::on(const news::NodesAlive& news, CoordinatorCommands&) {
  for (const auto& [name, process] : news.members) forget_last_boot(name, process.boot());
  observed_.nodes = news.members;
  nodes_known_ = true;
  note_absences();
}

void Coordinator::on(const news::ViewManagersAlive& news, CoordinatorCommands&) {
  observed_.view_managers = news.members;
  view_managers_known_ = true;
  note_absences();
}

void Coordinator::on(const news::StatusesReported& news, CoordinatorCommands&) {
  if (!elected_) return;
  for (const pb::RegionStatus& status : news.statuses)
    observed_.statuses[status.region()][status.node()] = status;
}

void Coordinator::on(const news::Written& news, CoordinatorCommands& out) {
  if (!elected_) return;
  TM_ASSERT(writing_);
  writing_ = false;
  facts_ = news.facts;
  forget_statuses();
  note_absences();
  out.tell_to_look_again = true;
}

void Coordinator::on(const news::WriteFailed&, CoordinatorCommands& out) {
  if (!elected_) return;
  writing_ = false;
  facts_.reset();
  out.read_facts = true;
}

void Coordinator::decide(CoordinatorCommands& out) {
  if (!nodes_known_ || !view_managers_known_) return;
  Situation now = situation();
  out.launch = wanted_launches(now);
  for (const std::string& identity : out.launch) observed_.launched_at[identity] = observed_.now;
  out.write = next_step(now);
  if (out.write && TM_BUGGIFY("coordinator: facts are read again before a write")) {
    out.write.reset();
    facts_.reset();
    out.read_facts = true;
  }
  writing_ = out.write.has_value();
}

// Absence is measured by this coordinator alone; a successor begins anew. It only delays.
void Coordinator::note_absences() {
  if (!facts_) return;
  auto note = [&](std::map<std::string, Micros>& absent, const std::string& name, bool alive) {
    if (alive) {
      absent.erase(name);
    } else {
      absent.try_emplace(name, observed_.now);
    }
  };
  if (nodes_known_)
    for (const auto& wish : facts_->wishes.nodes())
      note(observed_.nodes_absent_since, wish.name(), observed_.nodes.contains(wish.name()));
  if (!view_managers_known_) return;
  for (const auto& wish : facts_->wishes.view_managers()) {
    bool alive = bearer_of(facts_->ring, observed_.view_managers, wish.name()) != nullptr;
    note(observed_.view_managers_absent_since, wish.name(), alive);
    if (alive) observed_.launched_at.erase(wish.name());
  }
}

// What the process before told need not hold any more: the disk may be another.
void Coordinator::forget_last_boot(const std::string& node, uint64_t boot) {
  if (std::exchange(boots_[node], boot) == boot) return;
  for (auto& [region, by_node] : observed_.statuses) by_node.erase(node);
}

void Coordinator::forget_statuses() {
  std::set<uint64_t> regions;
  for (const auto& entry : facts_->map.regions()) regions.insert(entry.region());
  std::erase_if(observed_.statuses, [&](const auto& one) { return !regions.contains(one.first); });
}

}  // namespace tidemark
