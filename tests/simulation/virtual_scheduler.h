// A Scheduler whose clock moves only when there is nothing left to do now: the same posts give the same run.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/scheduler.h"

namespace tidemark {

// What stands between the world's clock and the tasks of one life of a process. A dead one's never run.
struct ProcessGate {
  bool killed = false;
  bool paused = false;
  std::vector<std::function<void()>> held;  // What came due while it was paused.
};

// Single-threaded. Tasks run by time, then by the order of posting.
class VirtualScheduler final : public Scheduler {
 public:
  void post(std::function<void()> task) override { post_after(Micros{0}, std::move(task)); }
  void post_after(Micros delay, std::function<void()> task) override {
    post_through(nullptr, delay, std::move(task));
  }
  // For a process: when it is due it goes through the gate.
  void post_through(std::shared_ptr<ProcessGate> gate, Micros delay, std::function<void()> task);
  Micros now() const override { return now_; }

  // Runs the next task, moving the clock to it. False: there is none. Asserts that time does not stand still:
  // that there is no circle of tasks without any delay.
  bool run_one();
  // Runs until no task is left. REQUIRES: it ends, that is, nothing posts itself for ever.
  void run();
  // Runs what is due up to and including `end`, then leaves the clock there.
  void run_until(Micros end);
  // Runs until `condition` holds after a task; false if the tasks ran out first.
  bool run_while_not(const std::function<bool()>& condition);

  uint64_t steps() const { return steps_; }  // Tasks run so far.

 private:
  struct Task {
    std::function<void()> run;
    std::shared_ptr<ProcessGate> gate;
  };
  // Tasks stay in their slots: only these are moved about when the next one is looked for.
  struct Due {
    Micros at;
    uint64_t sequence;
    size_t slot;
    bool operator>(const Due& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };
  Task take_next();

  std::vector<Due> due_;  // A heap: the next one first.
  std::vector<Task> slots_;
  std::vector<size_t> free_slots_;
  Micros now_;
  uint64_t steps_ = 0;
  uint64_t run_now_ = 0;  // How many tasks, since the clock has moved.
  uint64_t sequence_ = 0;
};

// One process's loop on the world's clock. Paused, it runs nothing and wakes up with all that came meanwhile;
// killed, it never runs anything again. REQUIRES: the world outlives it.
class ProcessScheduler final : public Scheduler {
 public:
  explicit ProcessScheduler(VirtualScheduler& world) : world_(world) {}
  ~ProcessScheduler() override { kill(); }

  void post(std::function<void()> task) override { post_after(Micros{0}, std::move(task)); }
  void post_after(Micros delay, std::function<void()> task) override {
    if (!gate_->killed) world_.post_through(gate_, delay, std::move(task));
  }
  Micros now() const override { return world_.now(); }

  void pause() { gate_->paused = true; }
  void resume();
  void kill();

 private:
  VirtualScheduler& world_;
  // Shared with the tasks on the world's queue, which a killed process leaves behind.
  const std::shared_ptr<ProcessGate> gate_ = std::make_shared<ProcessGate>();
};

}  // namespace tidemark
