#include "tests/simulation/virtual_scheduler.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tidemark {

void VirtualScheduler::post_after(Micros delay, std::function<void()> task) {
  TM_ASSERT(delay.value >= 0, delay);
  tasks_.push({Micros{now_.value + delay.value}, sequence_++, std::move(task)});
}

bool VirtualScheduler::run_one() {
  constexpr uint64_t kRunNowMax = 1'000'000;
  if (tasks_.empty()) return false;
  run_now_ = tasks_.top().at > now_ ? 1 : run_now_ + 1;
  TM_ASSERT(run_now_ <= kRunNowMax, now_);
  // top() is const, but the task is popped at once: moving its function out spoils no order.
  auto run = std::move(const_cast<Task&>(tasks_.top()).run);
  now_ = std::max(now_, tasks_.top().at);
  tasks_.pop();
  run();
  return true;
}

void VirtualScheduler::run() {
  while (run_one()) {
  }
}

void VirtualScheduler::run_until(Micros end) {
  while (!tasks_.empty() && tasks_.top().at <= end) run_one();
  now_ = std::max(now_, end);
}

bool VirtualScheduler::run_while_not(const std::function<bool()>& condition) {
  while (!condition()) {
    if (!run_one()) return false;
  }
  return true;
}

void ProcessScheduler::post_after(Micros delay, std::function<void()> task) {
  if (state_->killed) return;
  world_.post_after(delay, [weak = std::weak_ptr(state_), task = std::move(task)] {
    if (const auto state = weak.lock()) run_or_hold(*state, task);
  });
}

void ProcessScheduler::run_or_hold(State& state, std::function<void()> task) {
  if (state.paused) {
    state.held.push_back(std::move(task));
  } else {
    task();
  }
}

void ProcessScheduler::resume() {
  state_->paused = false;
  for (auto& task : std::exchange(state_->held, {})) post(std::move(task));
}

}  // namespace tidemark
