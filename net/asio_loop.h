// An event loop on a thread of its own: the production Scheduler. One per worker.
#pragma once

#include <memory>
#include <string>

#include "base/scheduler.h"

namespace asio {
class io_context;
}

namespace tidemark {

class AsioLoop : public Scheduler {
 public:
  explicit AsioLoop(std::string name);  // Starts the thread; the name shows in `top -H` and gdb.
  ~AsioLoop() override;                 // stop().

  void post(std::function<void()> task) override;
  void post_after(Micros delay, std::function<void()> task) override;
  Micros now() const override;

  // Runs `task` on the loop and waits for its end. Never from the loop itself.
  void run(std::function<void()> task);

  // Ends the thread; tasks not yet run are dropped. What lives on the loop must be stopped before.
  void stop();

  bool on_loop() const;
  asio::io_context& context();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
