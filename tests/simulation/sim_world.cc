#include "tests/simulation/sim_world.h"

#include "base/assert.h"

namespace tidemark {

SimWorld::SimWorld(uint64_t seed, const SimFaults& faults)
    : random(seed),
      network(scheduler, random.fork(), faults.network),
      logs(faults.log_kind, scheduler, random.fork(), faults.logs),
      coordination(scheduler, faults.coordination) {}

void SimWorld::end_faults() {
  network.set_faults({});
  network.heal_all();
  logs.set_faults({});
  logs.set_available(true);
  coordination.end_faults();
}

SimSession::SimSession(SimWorld& world, Scheduler& scheduler, Random random)
    : MemoryCoordination(world.coordination, scheduler, random) {
  on_session([this](SessionState state) {
    if (state == SessionState::Expired) new_session();
  });
}

struct SimProcess::Life {
  Life(SimWorld& world, ProcessScheduler& loop, const std::string& name)
      : random(world.random.fork()),
        scheduler(loop),
        transport(world.network.connect(Address{name}, scheduler)),
        coordination(world, scheduler, world.random.fork()),
        logs(world.logs.connect(scheduler)) {}

  Random random;
  ProcessScheduler& scheduler;
  std::unique_ptr<Transport> transport;
  SimSession coordination;
  std::unique_ptr<LogStore> logs;
  std::unique_ptr<SimRole> role;
};

SimProcess::SimProcess(SimWorld& world, std::string name, Boot boot)
    : world_(world), name_(std::move(name)), boot_(std::move(boot)) {}

SimProcess::~SimProcess() {
  if (running()) crash();
}

void SimProcess::start() {
  TM_ASSERT(!running(), name_);
  ++starts_;
  paused_ = false;
  loops_.push_back(std::make_unique<ProcessScheduler>(world_.scheduler));
  life_ = std::make_unique<Life>(world_, *loops_.back(), name_);
  life_->role = boot_(*this);
}

void SimProcess::crash() {
  TM_ASSERT(running(), name_);
  life_->scheduler.kill();
  life_->coordination.abandon();
  life_->role.reset();
  life_.reset();
  paused_ = false;
}

void SimProcess::pause(Pause kind) {
  TM_ASSERT(running() && !paused_, name_);
  paused_ = true;
  pause_ = kind;
  life_->scheduler.pause();
  if (kind == Pause::SessionLost) life_->coordination.disconnect();
}

void SimProcess::resume() {
  TM_ASSERT(running() && paused_, name_);
  paused_ = false;
  if (pause_ == Pause::SessionLost) life_->coordination.reconnect();
  life_->scheduler.resume();
}

void SimProcess::cut_off() {
  TM_ASSERT(running() && !paused_, name_);
  life_->coordination.disconnect();
}

void SimProcess::reach_again() {
  const bool reconnects_later = paused_ && pause_ == Pause::SessionLost;
  if (running() && !reconnects_later) life_->coordination.reconnect();
}

void SimProcess::expire_session() {
  TM_ASSERT(running(), name_);
  world_.coordination.expire(life_->coordination.session());
}

SimRole* SimProcess::role() const {
  return life_ ? life_->role.get() : nullptr;
}

ProcessContext SimProcess::context() {
  TM_ASSERT(running(), name_);
  return {life_->scheduler, *life_->transport, life_->coordination, life_->random, life_->logs.get()};
}

}  // namespace tidemark
