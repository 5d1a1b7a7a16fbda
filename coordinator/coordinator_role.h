// The coordinator as a role of every storage node process: it queues up for election, and while elected reads
// the facts, reconciles them, and answers operators. While it is not, it passes their requests on to the one
// that is. Lives on one loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coordinator/coordinator.h"
#include "coordinator/situation.h"
#include "net/process_context.h"
#include "proto/facts.pb.h"
#include "proto/messages.pb.h"

namespace tidemark {

inline constexpr Micros kSayRefusedEvery{10'000'000};

struct CoordinatorOptions {
  CoordinatorSettings settings;
  pb::ProcessFact self;  // The storage node that it runs in.
  // For people, in history: microseconds since 1970. None: the loop's time.
  std::function<int64_t()> wall_clock_micros;
  // Runs the launcher for an identity. Called only if settings.launcher is set.
  std::function<void(const std::string& identity)> launch;
  // Told of each step before it is written, for the log. May be empty.
  std::function<void(const Step& step)> on_step;
  // Told when a write was refused for good: it is tried again, but only people can help. Not more often than
  // every kSayRefusedEvery. May be empty.
  std::function<void()> on_refused;
  Micros tick{200'000};
};

class CoordinatorRole {
 public:
  // REQUIRES: what the context refers to outlives it.
  CoordinatorRole(const ProcessContext& context, CoordinatorOptions options);
  ~CoordinatorRole();
  CoordinatorRole(const CoordinatorRole&) = delete;
  CoordinatorRole& operator=(const CoordinatorRole&) = delete;

  // The process's transport has one receiver, which offers each message to its roles. True: it was for this
  // one (region status; requests of operators, for the catalog and for freshness, and the answers to those it
  // passed on).
  bool on_message(const Address& from, const MessagePtr& message);
  static bool is_for_coordinator(const pb::Message& message);

  bool is_elected() const;

  struct Figures {
    size_t operations_running = 0;
    pb::FreshnessReply freshness;
  };
  // None: it is not elected, or does not know the facts yet.
  std::optional<Figures> figures() const;

  // For an orderly end: the next one is elected at once.
  void withdraw(std::function<void()> done);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark
