// Ends the process when one of its event loops hangs: its session would live on, and the others would wait
// for it for ever. A process that is paused as a whole is not hanging: its watchdog sleeps with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "net/asio_loop.h"

namespace tidemark {

class Watchdog {
 public:
  struct Watched {
    std::string name;
    AsioLoop* loop = nullptr;
  };
  // REQUIRES: the loops outlive it. `on_hang` must end the process.
  Watchdog(std::vector<Watched> loops, Micros patience,
           std::function<void(const std::string& reason)> on_hang);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
