// What clients do: writes of one or several rows, reads of rows of one lane, some of which wait for a token.
// Every answer goes to the checkers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordinator/watched_directory.h"
#include "net/client.h"
#include "proto/operation.h"
#include "tests/simulation/checker.h"

namespace tidemark::sim {

// A client in a process of its own, which never dies.
class SimClient {
 public:
  SimClient(SimWorld& world, const std::string& name, ShardCount shards);
  Client& operator*() { return *client_; }
  Client* operator->() { return client_.get(); }
  SimSession& session() { return coordination_; }

  std::map<ShardId, Position> newest;  // The highest token of its own writes, per lane.

 private:
  ProcessScheduler loop_;
  SimSession coordination_;
  Random random_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<WatchedDirectory> directory_;
  std::unique_ptr<Client> client_;
};

class Workload {
 public:
  struct Listener {
    std::function<void(const ClientWrite&)> on_begun;
    std::function<void(const ClientWrite&, Heard, const LaneRuns&)> on_answered;
    std::function<void(const ClientRead&)> on_read;
  };
  struct Counts {
    uint64_t operations = 0;
    uint64_t acknowledged = 0;
    uint64_t unknown = 0;
    uint64_t failed = 0;  // By what was there.
    uint64_t not_done = 0;
    uint64_t reads = 0;
    uint64_t token_reads = 0;
    uint64_t failed_reads = 0;
  };

  Workload(Evidence& evidence, Random random, Listener listener);

  // One operation, not waited for. `catalog` is the newest version that the tables are known to have.
  void act(CatalogVersion catalog);
  size_t in_flight() const { return in_flight_; }
  SimSession& first_session() { return clients_.front()->session(); }
  // Without faults: a write to every lane, which must be done.
  void write_everywhere(CatalogVersion catalog);
  // For each view that is read and each lane, waits until the newest write can be seen there.
  void await_tokens();
  size_t tokens_awaited() const { return tokens_awaited_; }
  const Counts& counts() const { return counts_; }

 private:
  void write(CatalogVersion catalog);
  // A write that depends on what is there.
  void write_conditionally(CatalogVersion catalog);
  // Adds an operation on the row to both.
  void add(const std::string& table, const Row& row, OperationKind kind, ClientWrite& write,
           WriteBatch& batch);
  // Rows near to each other mostly lie in one region.
  bool is_near(const RowWrite& row, uint64_t hash) const;
  void send(ClientWrite write, WriteBatch batch, CatalogVersion catalog);
  void read();
  // The views to wait for, one over the other, before the table can be read.
  std::vector<TableId> path_to(const ClientRead& read) const;
  void get(ClientRead read, SimClient& client);
  void on_written(ClientWrite write, SimClient& client, const Result<WriteOutcome, ClientFailure>& outcome);
  Row random_row(int64_t id);
  int64_t random_key() { return random_.between(0, static_cast<int64_t>(evidence_.scenario.keys) - 1); }

  Evidence& evidence_;
  Random random_;
  Listener listener_;
  std::vector<std::unique_ptr<SimClient>> clients_;
  std::map<ShardId, Position> newest_;  // The highest token heard, per lane.
  uint64_t next_number_ = 1;
  int64_t next_stamp_ = 1;
  size_t in_flight_ = 0;
  size_t tokens_awaited_ = 0;
  Counts counts_;
};

}  // namespace tidemark::sim
