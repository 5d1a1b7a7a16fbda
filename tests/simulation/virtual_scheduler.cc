#include "tests/simulation/virtual_scheduler.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tidemark {

void VirtualScheduler::post_through(std::shared_ptr<ProcessGate> gate, Micros delay,
                                    std::function<void()> task) {
  TM_ASSERT(delay.value >= 0, delay);
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const size_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {std::move(task), std::move(gate)};
  due_.push_back({Micros{now_.value + delay.value}, sequence_++, slot});
  std::push_heap(due_.begin(), due_.end(), std::greater<>());
}

VirtualScheduler::Task VirtualScheduler::take_next() {
  const Due next = due_.front();
  std::pop_heap(due_.begin(), due_.end(), std::greater<>());
  due_.pop_back();
  run_now_ = next.at > now_ ? 1 : run_now_ + 1;
  now_ = std::max(now_, next.at);
  free_slots_.push_back(next.slot);
  return std::exchange(slots_[next.slot], {});
}

bool VirtualScheduler::run_one() {
  constexpr uint64_t kRunNowMax = 1'000'000;
  if (due_.empty()) return false;
  Task task = take_next();
  TM_ASSERT(run_now_ <= kRunNowMax, now_);
  ++steps_;
  if (task.gate == nullptr || !(task.gate->killed || task.gate->paused)) {
    task.run();
  } else if (!task.gate->killed) {
    task.gate->held.push_back(std::move(task.run));
  }
  return true;
}

void VirtualScheduler::run() {
  while (run_one()) {
  }
}

void VirtualScheduler::run_until(Micros end) {
  while (!due_.empty() && due_.front().at <= end) run_one();
  now_ = std::max(now_, end);
}

bool VirtualScheduler::run_while_not(const std::function<bool()>& condition) {
  while (!condition()) {
    if (!run_one()) return false;
  }
  return true;
}

void ProcessScheduler::resume() {
  gate_->paused = false;
  for (auto& task : std::exchange(gate_->held, {})) post(std::move(task));
}

void ProcessScheduler::kill() {
  gate_->killed = true;
  gate_->held.clear();
}

}  // namespace tidemark
