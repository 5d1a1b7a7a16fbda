// Coordination by ZooKeeper's C client. Its threads only copy what they are given and post it to the loop.
#pragma once

#include <memory>
#include <string>

#include "base/scheduler.h"
#include "coordinator/coordination.h"

namespace tidemark {

struct ZooKeeperOptions {
  std::string servers;  // "host:port,host:port"
  std::string root;     // All paths are below it: "/tidemark". Made if missing; empty: none.
  std::string digest;   // "user:password": entries are made for that user alone. Empty: for everyone.
  Micros session_timeout{6'000'000};
};

class ZooKeeperCoordination final : public Coordination {
 public:
  // Connects in the background, and again for as long as it lives.
  ZooKeeperCoordination(Scheduler& scheduler, ZooKeeperOptions options);
  // Closes the session, if there is a connection: ephemeral entries go at once. On the loop, or after it has
  // ended. Calls in flight are dropped.
  ~ZooKeeperCoordination() override;

  void get(const std::string& path, Watch watch, Done<Entry> done) override;
  void children(const std::string& path, Watch watch, Done<std::vector<std::string>> done) override;
  void exists(const std::string& path, Watch watch, Done<bool> done) override;
  void create(const std::string& path, const std::string& data, EntryMode mode,
              Done<std::string> done) override;
  void multi(std::vector<CoordinationOp> ops, Done<std::vector<std::string>> done) override;
  void on_session(std::function<void(SessionState)> listener) override;
  void new_session() override;

  // Whoever has them can end the session: for tests of expiry.
  struct Credentials {
    int64_t session = 0;
    std::string password;
  };
  Credentials credentials() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark
