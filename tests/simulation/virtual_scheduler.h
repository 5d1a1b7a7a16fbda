// A Scheduler whose clock moves only when there is nothing left to do now: the same posts give the same run.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/scheduler.h"

namespace tidemark {

// Single-threaded. Tasks run by time, then by the order of posting.
class VirtualScheduler final : public Scheduler {
 public:
  void post(std::function<void()> task) override { post_after(Micros{0}, std::move(task)); }
  void post_after(Micros delay, std::function<void()> task) override;
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

 private:
  struct Task {
    Micros at;
    uint64_t sequence;
    std::function<void()> run;
    bool operator>(const Task& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };

  std::priority_queue<Task, std::vector<Task>, std::greater<>> tasks_;
  Micros now_;
  uint64_t run_now_ = 0;  // How many tasks, since the clock has moved.
  uint64_t sequence_ = 0;
};

// One process's loop on the world's clock. Paused, it runs nothing and wakes up with all that came meanwhile;
// killed, it never runs anything again. REQUIRES: the world outlives it.
class ProcessScheduler final : public Scheduler {
 public:
  explicit ProcessScheduler(Scheduler& world) : world_(world) {}

  void post(std::function<void()> task) override { post_after(Micros{0}, std::move(task)); }
  void post_after(Micros delay, std::function<void()> task) override;
  Micros now() const override { return world_.now(); }

  void pause() { state_->paused = true; }
  void resume();
  void kill() { state_ = std::make_shared<State>(State{.killed = true, .paused = false, .held = {}}); }

 private:
  struct State {
    bool killed = false;
    bool paused = false;
    std::vector<std::function<void()>> held;
  };
  static void run_or_hold(State& state, std::function<void()> task);

  Scheduler& world_;
  // Shared with the tasks on the world's queue, which a killed process leaves behind.
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace tidemark
