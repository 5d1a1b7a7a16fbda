// A loop in real time, run by the test's own thread: for logs that have threads of their own.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/scheduler.h"

namespace tidemark {

class TestLoop final : public Scheduler {
 public:
  void post(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(task));
    }
    changed_.notify_one();
  }
  void post_after(Micros delay, std::function<void()> task) override {
    timers_.emplace(Clock::now() + std::chrono::microseconds(delay.value), std::move(task));
  }
  Micros now() const override {
    return Micros{
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count()};
  }

  // Runs until `holds` does; false if that takes longer than `deadline`, which is only there to end a test
  // that hangs. Asked after every task, and now and then, since it may depend on other threads.
  bool run_until(const std::function<bool()>& holds,
                 std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    const auto end = Clock::now() + deadline;
    while (!holds()) {
      const auto now_is = Clock::now();
      if (now_is >= end) return false;
      run_some(std::min(end, now_is + std::chrono::milliseconds(5)));
    }
    return true;
  }
  // Runs for that long, whatever happens: to show that something does not.
  void run_for(std::chrono::milliseconds span) {
    run_until([] { return false; }, span);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void run_some(Clock::time_point end) {
    std::vector<std::function<void()>> tasks;
    {
      std::unique_lock lock(mutex_);
      if (!timers_.empty()) end = std::min(end, timers_.begin()->first);
      changed_.wait_until(lock, end, [this] { return !posted_.empty(); });
      tasks.swap(posted_);
    }
    while (!timers_.empty() && timers_.begin()->first <= Clock::now()) {
      tasks.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
    for (auto& task : tasks) task();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> posted_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
};

}  // namespace tidemark
