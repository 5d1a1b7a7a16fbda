// A Scheduler whose clock moves only when there is nothing left to do now: the same posts give the same run.
#pragma once

#include <functional>
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

  // Runs the next task, moving the clock to it. False: there is none.
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
  uint64_t sequence_ = 0;
};

}  // namespace tidemark
