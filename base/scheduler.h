// The event loop as cores' drivers and the logs see it. One worker has one; everything that belongs to the
// worker runs on it. In production it is Asio's, in the simulation the simulated clock's.
#pragma once

#include <functional>

#include "base/types.h"

namespace tidemark {

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Runs `task` on the loop, after what was posted before it. May be called from any thread.
  virtual void post(std::function<void()> task) = 0;

  // Runs `task` on the loop once `delay` has passed. Called on the loop only. It can not be cancelled: the
  // task checks whether it is still wanted.
  virtual void post_after(Micros delay, std::function<void()> task) = 0;

  // Time since some fixed moment; never goes back. Called on the loop only.
  virtual Micros now() const = 0;
};

}  // namespace tidemark
