// A simulated world: one clock, one network, brokers, a coordination service, and processes that start,
// crash, pause and start again. A seed decides everything. Roles run in it unchanged.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordinator/memory_coordination.h"
#include "net/process_context.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/virtual_scheduler.h"
#include "wal/memory_log.h"

namespace tidemark {

struct SimFaults {
  SimNetworkFaults network;
  MemoryLogFaults logs;
  CoordinationFaults coordination;
  MemoryLogKind log_kind = MemoryLogKind::Kafka;  // Disk: the crash of any node is that of the machine.
};

class SimWorld {
 public:
  SimWorld(uint64_t seed, const SimFaults& faults);

  // From now on nothing goes wrong any more: for the phase in which all must converge.
  void end_faults();

  VirtualScheduler scheduler;
  Random random;
  SimNetwork network;
  MemoryLogs logs;
  CoordinationTree coordination;
};

// A session as server/ gives it to whoever needs one: begun anew when it has expired. Who registers nothing,
// as clients, operators and roles that have not come to it, would hear of no change of the facts any more.
class SimSession final : public MemoryCoordination {
 public:
  SimSession(SimWorld& world, Scheduler& scheduler, Random random);
};

// What runs in a process. Destroying it is part of the process's death: it tidies nothing up.
class SimRole {
 public:
  virtual ~SimRole() = default;
  // An orderly end: `done` when the process may go.
  virtual void stop(std::function<void()> done) { done(); }
};

// A process that may live many times under one name and address.
class SimProcess {
 public:
  using Boot = std::function<std::unique_ptr<SimRole>(SimProcess& process)>;

  // REQUIRES: the world outlives it.
  SimProcess(SimWorld& world, std::string name, Boot boot);
  ~SimProcess();

  void start();  // REQUIRES: not running.
  // At once, in the middle of whatever it did: what it had sent may still arrive, its session lives on until
  // it times out.
  void crash();
  // It does nothing until resumed, and does not know that it slept. SessionLost: the whole process stands
  // still, and its session expires if that takes long. SessionKept: only its loop hangs.
  enum class Pause : uint8_t { SessionLost, SessionKept };
  void pause(Pause kind = Pause::SessionLost);
  void resume();
  // It can not reach the coordination service, until it can or dies.
  void cut_off();
  void reach_again();
  // The coordination service gives its session up, though the process is well.
  void expire_session();

  bool running() const { return life_ != nullptr; }
  bool paused() const { return paused_; }
  const std::string& name() const { return name_; }
  Address address() const { return Address{name_}; }
  SimRole* role() const;
  uint64_t starts() const { return starts_; }

  // Of the present life. REQUIRES: running().
  ProcessContext context();

 private:
  struct Life;

  SimWorld& world_;
  std::string name_;
  Boot boot_;
  // Of all lives: answers that are still under way to a dead one find a loop that runs nothing any more.
  std::vector<std::unique_ptr<ProcessScheduler>> loops_;
  std::unique_ptr<Life> life_;
  bool paused_ = false;
  Pause pause_ = Pause::SessionLost;
  uint64_t starts_ = 0;
};

}  // namespace tidemark
