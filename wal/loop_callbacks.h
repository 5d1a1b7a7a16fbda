// Brings answers from elsewhere (other threads, the world of a simulation) to an object's loop, and drops
// them if the object is gone by then.
#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include "base/scheduler.h"

namespace tidemark {

// A member of the object that asks; its destruction drops what has not run yet.
class LoopCallbacks {
 public:
  // REQUIRES: the loop outlives the object, and all calls of wrapped functions on other threads.
  explicit LoopCallbacks(Scheduler& loop) : loop_(&loop) {}
  LoopCallbacks(const LoopCallbacks&) = delete;
  LoopCallbacks& operator=(const LoopCallbacks&) = delete;

  Scheduler& loop() const { return *loop_; }

  // A function that may be called on any thread, and runs `f` with its arguments on the loop. `f` lives in
  // the task, so it may destroy the object.
  template <typename F>
  auto wrap(F f) {
    return [loop = loop_, alive = std::weak_ptr<Alive>(alive_), f = std::move(f)](auto... arguments) {
      if (alive.expired()) return;
      loop->post([alive, f, packed = std::make_tuple(std::move(arguments)...)]() mutable {
        if (!alive.expired()) std::apply(f, std::move(packed));
      });
    };
  }

 private:
  struct Alive {};
  Scheduler* loop_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace tidemark
