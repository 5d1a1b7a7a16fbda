// A client of a cluster for benchmarks: a loop of its own, on which net/client.h runs, and calls that block
// until they are answered.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordinator/facts.h"
#include "coordinator/watched_directory.h"
#include "net/client.h"
#include "proto/catalog.pb.h"
#include "proto/messages.pb.h"
#include "server/surroundings.h"

namespace tidemark::bench {

class BenchClient {
 public:
  // Blocks until the cluster serves. REQUIRES: surroundings outlive it.
  // `name` is also that of its thread.
  BenchClient(Surroundings& surroundings, const std::string& name);
  ~BenchClient();
  BenchClient(const BenchClient&) = delete;
  BenchClient& operator=(const BenchClient&) = delete;

  AsioLoop& loop() { return loop_; }
  Client& client() { return *client_; }  // On the loop.
  ShardCount shards() const { return shards_; }

  // ---- blocking

  // The newest catalog for which `enough` holds.
  pb::Catalog catalog(const std::function<bool(const pb::Catalog&)>& enough);
  // Creates tables over the newest catalog; `make` is given it. Returns the catalog that has them, begun.
  Result<pb::Catalog> create(
      const std::function<Result<std::vector<pb::TableDefinition>>(const pb::Catalog&)>& make);
  Status wait(const std::vector<TableId>& path, const LaneRuns& tokens);
  // Every row of the table; the first error ends it.
  Status scan(TableId table, const std::function<Status(const StoredRow&)>& take);
  // An admin command. Blocks until it has ended.
  pb::AdminReply admin(const std::vector<std::string>& words);

 private:
  void connect();
  void on_admin_message(const pb::Message& message);
  // Sends to some node, again and again, until there is an answer with this number.
  pb::Message ask(pb::Message message);
  void send_question();
  void rejoin(const pb::AdminReply& progress);

  Surroundings& surroundings_;
  const std::string name_;
  Random random_;
  AsioLoop loop_;
  std::unique_ptr<Coordination> coordination_;
  ShardCount shards_;
  Surroundings::Endpoint endpoint_;        // The client's.
  Surroundings::Endpoint admin_endpoint_;  // For what is asked of the coordinator.
  std::unique_ptr<WatchedDirectory> directory_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<FactWatch> catalog_watch_;
  pb::Catalog catalog_;

  uint64_t next_question_ = 1;
  std::shared_ptr<pb::Message> question_;
  std::function<void(const pb::Message&)> on_answer_;
};

}  // namespace tidemark::bench
