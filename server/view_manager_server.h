// A view manager on a loop of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "server/surroundings.h"
#include "view_manager/core.h"
#include "view_manager/limits.h"

namespace tidemark {

struct ViewManagerServerOptions {
  std::string name;
  std::string address;  // Where nodes reach it; empty: what it listens on.
  Address listen;       // Embedded: not used.
  uint32_t weight = 1;
  bool standby = false;
  ViewManagerLimits limits;
  Metrics* metrics = &no_metrics();  // Outlives it.
  Logger log;
  std::function<void(const std::string& reason)> on_fatal;  // As NodeServerOptions'.
  std::function<void()> on_ready = [] {};                   // On the loop, once: it listens.
};

class ViewManagerServer {
 public:
  // Waits for its cluster to be made by a node, then serves. REQUIRES: surroundings outlive it.
  ViewManagerServer(Surroundings& surroundings, ViewManagerServerOptions options);
  ~ViewManagerServer();  // As a crash.
  ViewManagerServer(const ViewManagerServer&) = delete;
  ViewManagerServer& operator=(const ViewManagerServer&) = delete;

  // An orderly end: others need not wait until they believe it dead. Blocks, for a bounded time.
  void stop();

  // Since it bears its identity. Blocks until the loop has told.
  struct Figures {
    ViewManagerCore::Counts core;
    BatchBuilder::Counts batches;
  };
  Figures figures();

  AsioLoop& loop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
