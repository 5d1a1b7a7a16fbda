// The view manager as a role of a process: it registers, follows ring, region map and catalog, and connects
// the core to the transport. It bears the identity that the ring gives to its name, or none while it is a
// standby. Lives on one loop; deterministic, as all that it uses.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/process_context.h"
#include "proto/facts.pb.h"
#include "view_manager/core.h"
#include "view_manager/limits.h"

namespace tidemark {

struct ViewManagerOptions {
  pb::ProcessFact self;
  ShardCount shards;  // Of the cluster.
  ViewManagerLimits limits;
  // Told what can not be planned here, for the log: records of such views wait. May be empty.
  std::function<void(const std::string& failure)> on_failure;
};

class ViewManager {
 public:
  // REQUIRES: what the context refers to outlives it.
  ViewManager(const ProcessContext& context, ViewManagerOptions options);
  ~ViewManager();
  ViewManager(const ViewManager&) = delete;
  ViewManager& operator=(const ViewManager&) = delete;

  void start();
  // For an orderly end: withdraws the registration; then `done`. Nothing is lost by ending without it.
  void stop(std::function<void()> done);

  // The process's transport has one receiver, which offers each message to its roles. True: it was for this
  // one.
  bool on_message(const Address& from, const MessagePtr& message);

  // Null while no identity is borne.
  const ViewManagerCore* core() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
