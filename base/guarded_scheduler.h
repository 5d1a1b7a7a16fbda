// A Scheduler for the use of one object: what it posted is dropped once the object is gone. Destroyed on the
// loop.
#pragma once

#include <memory>

#include "base/scheduler.h"

namespace tidemark {

class GuardedScheduler final : public Scheduler {
 public:
  explicit GuardedScheduler(Scheduler& inner) : inner_(inner) {}

  void post(std::function<void()> task) override { inner_.post(guard(std::move(task))); }
  void post_after(Micros delay, std::function<void()> task) override {
    inner_.post_after(delay, guard(std::move(task)));
  }
  Micros now() const override { return inner_.now(); }

  // The task, made to do nothing once the guarded object is gone: for callbacks given to others.
  std::function<void()> guard(std::function<void()> task) const {
    return [alive = std::weak_ptr<int>(alive_), task = std::move(task)] {
      if (!alive.expired()) task();
    };
  }
  // Expires with the guarded object: for callbacks that take arguments.
  std::weak_ptr<int> token() const { return alive_; }

 private:
  Scheduler& inner_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace tidemark
