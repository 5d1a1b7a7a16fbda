#include "tests/simulation/nemesis.h"

#include <cmath>

namespace tidemark::sim {

Nemesis::Nemesis(SimCluster& cluster, const Scenario& scenario, Random random, Trace& trace,
                 SimSession& client)
    : cluster_(cluster), scenario_(scenario), random_(random), trace_(trace), client_(client) {}

bool Nemesis::happens(double per_second) {
  return random_.chance(per_second * static_cast<double>(kInterval.value) / 1e6);
}

// Mostly short, sometimes long: a session may or may not survive it.
Micros Nemesis::until_mended() {
  const double span = -std::log(1 - random_.unit()) * scenario_.down_micros;
  return Micros{cluster_.world().scheduler.now().value + static_cast<int64_t>(std::min(span, 20e6))};
}

void Nemesis::act() {
  const Micros now = cluster_.world().scheduler.now();
  for (SimProcess* process : cluster_.processes()) {
    const auto hurt_until = hurt_until_.find(process);
    if (process->running() && !process->paused()) {
      hurt(*process);
    } else if (hurt_until == hurt_until_.end() || hurt_until->second <= now) {
      trace_.say("fault ends:", process->name(), process->running() ? "resumes" : "starts");
      if (process->running()) {
        process->resume();
      } else {
        process->start();
      }
    }
  }
  partition();
  cut_off();
  disturb_disks();
}

void Nemesis::hurt(SimProcess& process) {
  if (happens(scenario_.crash)) {
    end_process(process);
  } else if (happens(scenario_.pause)) {
    ++counts_["pause"];
    trace_.say("fault:", process.name(), "is paused");
    process.pause(SimProcess::Pause::SessionLost);
  } else if (happens(scenario_.hang)) {
    ++counts_["hang"];
    trace_.say("fault:", process.name(), "hangs, its session lives");
    process.pause(SimProcess::Pause::SessionKept);
  } else if (happens(scenario_.expire)) {
    ++counts_["session expired"];
    trace_.say("fault:", process.name(), "loses its session");
    return process.expire_session();
  } else {
    return;
  }
  hurt_until_[&process] = until_mended();
}

void Nemesis::end_process(SimProcess& process) {
  if (random_.chance(scenario_.stop)) {
    ++counts_["orderly stop"];
    trace_.say("fault:", process.name(), "is stopped");
    stopping_[&process] = process.starts();
    return cluster_.stop(process);
  }
  ++counts_["crash"];
  trace_.say("fault:", process.name(), "crashes");
  cluster_.crash(process);
  if (!random_.chance(scenario_.lose_disk) || !cluster_.can_spare_disk(process, scenario_.whole_logs > 0))
    return;
  ++counts_["disk lost"];
  trace_.say("fault:", process.name(), "has lost its disk");
  cluster_.lose_disk(process);
}

void Nemesis::partition() {
  SimNetwork& network = cluster_.world().network;
  const Micros now = cluster_.world().scheduler.now();
  if (partitioned_ && partition_until_ <= now) {
    trace_.say("fault ends: the network is whole");
    network.heal_all();
    partitioned_ = false;
  }
  if (partitioned_ || !happens(scenario_.partition)) return;
  const auto processes = cluster_.processes();
  const Address alone = processes[random_.below(processes.size())]->address();
  const bool one_way = random_.chance(scenario_.one_way);
  ++counts_[one_way ? "one-way partition" : "partition"];
  trace_.say("fault:", alone, one_way ? "is not heard by some" : "is cut off from some");
  for (SimProcess* other : processes) {
    if (other->address() == alone || random_.chance(0.3)) continue;
    network.cut(alone, other->address());
    if (!one_way) network.cut(other->address(), alone);
  }
  partitioned_ = true;
  partition_until_ = until_mended();
}

// A node that does not hear what the coordinator decides goes on with what it knows, and so does whoever
// finds the owners of regions by the same connection.
void Nemesis::cut_off() {
  const Micros now = cluster_.world().scheduler.now();
  if (cut_off_ != nullptr && cut_off_until_ <= now) reach_again();
  if (cut_off_ != nullptr || !happens(scenario_.cut_off)) return;
  SimProcess& node =
      cluster_.node(static_cast<int>(random_.below(static_cast<uint64_t>(cluster_.node_count()))));
  if (!node.running() || node.paused()) return;
  ++counts_["cut off from coordination"];
  trace_.say("fault:", node.name(), "and a client can not reach the coordination service");
  node.cut_off();
  client_.disconnect();
  cut_off_ = &node;
  cut_off_until_ = Micros{until_mended().value + static_cast<int64_t>(scenario_.session_timeout_micros)};
}

void Nemesis::reach_again() {
  trace_.say("fault ends:", cut_off_->name(), "reaches the coordination service");
  cut_off_->reach_again();
  client_.reconnect();
  cut_off_ = nullptr;
}

void Nemesis::disturb_disks() {
  const Micros now = cluster_.world().scheduler.now();
  if (outage_ && outage_until_ <= now) {
    trace_.say("fault ends: the log is there again");
    cluster_.world().logs.set_available(true);
    outage_ = false;
  }
  if (!outage_ && happens(scenario_.outage)) {
    ++counts_["log outage"];
    trace_.say("fault: the log is gone");
    cluster_.world().logs.set_available(false);
    outage_ = true;
    outage_until_ = until_mended();
  }
  for (int i = 0; i < cluster_.node_count(); ++i) {
    const auto refusing = refusing_until_.find(i);
    if (refusing != refusing_until_.end() && refusing->second <= now) {
      cluster_.disk(i).refuse_saves("");
      refusing_until_.erase(refusing);
    } else if (refusing == refusing_until_.end() && happens(scenario_.refuse_saves)) {
      ++counts_["disk refuses"];
      trace_.say("fault: the disk of node", i, "takes no checkpoints");
      cluster_.disk(i).refuse_saves("no room");
      if (random_.chance(scenario_.fill)) cluster_.disk(i).fill();
      refusing_until_[i] = until_mended();
    }
  }
}

void Nemesis::restart_all() {
  ++counts_["restart of all"];
  trace_.say("fault: all processes crash");
  std::vector<SimProcess*> running;
  for (SimProcess* process : cluster_.processes())
    if (process->running()) running.push_back(process);
  for (SimProcess* process : running) cluster_.crash(*process);
  for (SimProcess* process : running) process->start();
}

void Nemesis::mend(SimProcess* lost) {
  trace_.say("all faults end");
  cluster_.world().end_faults();
  if (cut_off_ != nullptr) reach_again();
  for (int i = 0; i < cluster_.node_count(); ++i) cluster_.disk(i).refuse_saves("");
  if (lost != nullptr) {
    ++counts_["process lost for good"];
    trace_.say("fault:", lost->name(), "never comes back");
  }
  for (SimProcess* process : cluster_.processes()) {
    // Its stop takes the time that others need for theirs: nobody would start it again.
    const auto stopping = stopping_.find(process);
    const bool stops = stopping != stopping_.end() && stopping->second == process->starts();
    if ((stops || process == lost) && process->running()) cluster_.crash(*process);
    if (process == lost) continue;
    if (!process->running()) process->start();
    if (process->paused()) process->resume();
  }
}

std::map<std::string, uint64_t> Nemesis::counts() const {
  std::map<std::string, uint64_t> out = counts_;
  const SimNetworkCounters& network = cluster_.world().network.counters();
  out["message lost"] = network.lost;
  out["message slow"] = network.slow;
  out["message cut off"] = network.cut;
  const MemoryLogCounters& logs = cluster_.world().logs.counters();
  out["append late"] = logs.late;
  out["append outcome unknown"] = logs.unknown;
  out["append without offset"] = logs.no_offset;
  out["append duplicated"] = logs.duplicate;
  out["append duplicated, copy reported"] = logs.duplicate_reported;
  out["append lost"] = logs.lost;
  out["log unavailable"] = logs.unavailable;
  out["log refused"] = logs.refused;
  out["unsynced lost"] = logs.crash_lost;
  const CoordinationCounters& coordination = cluster_.world().coordination.counters();
  out["coordination request lost"] = coordination.lost_requests;
  out["coordination reply lost"] = coordination.lost_replies;
  out["coordination read of the past"] = coordination.past_reads;
  return out;
}

}  // namespace tidemark::sim
