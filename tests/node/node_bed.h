// A small world for storage nodes: logs, coordination, a network and virtual time, all in memory. The test
// plays the coordinator: it writes the region map, ring and catalog, and hears the statuses of regions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordinator/memory_coordination.h"
#include "coordinator/watched_directory.h"
#include "net/client.h"
#include "node/storage_node.h"
#include "node/store/memory_store.h"
#include "tests/node/troubled_logs.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/virtual_scheduler.h"
#include "wal/memory_log.h"

namespace tidemark {

inline constexpr ShardCount kBedShards{8};
inline constexpr uint64_t kBedCluster = 7;
inline constexpr TableId kBedTable{1};

// No table of these tests adds up rows.
class NoArithmetic : public RowArithmetic {
 public:
  AddOutcome add(const pb::TableDefinition&, std::optional<std::string_view>, std::string_view,
                 std::string&) override {
    return AddOutcome::Malformed;
  }
  std::optional<size_t> distribution_size(const pb::TableDefinition&, std::string_view) override {
    return std::nullopt;
  }
  bool set_value(const pb::TableDefinition&, std::string_view, uint32_t, const pb::TableDefinition&,
                 std::optional<std::string_view>, std::string&) override {
    return false;
  }
  std::optional<int64_t> get_count(const pb::TableDefinition&, std::string_view, uint32_t) override {
    return std::nullopt;
  }
  bool set_count(const pb::TableDefinition&, std::string_view, uint32_t, int64_t, std::string&) override {
    return false;
  }
};

// A view manager without views: it takes what it is sent, remembers it and commits it at once.
class PlainViewManager {
 public:
  // Whose a lane is by a ring: at a cut that gives it to another, its responsibility ends.
  using RingOwner = std::function<std::string(uint64_t ring, ShardId lane)>;

  PlainViewManager(SimNetwork& network, CoordinationTree& tree, Scheduler& scheduler, const std::string& name,
                   RingOwner owner);

  struct Seen {
    Position at;  // Of the record.
    std::string text;
  };
  // Per lane, in the order in which they came; what came again is left out.
  const std::map<ShardId, std::vector<Seen>>& seen() const { return seen_; }
  uint64_t opens() const { return opens_; }

  // Its process is gone, its session is not yet.
  void die_unnoticed() { transport_.reset(); }

  bool commits = true;
  uint64_t credit = uint64_t{1} << 40;

 private:
  struct Queue {
    Generation generation;
    std::vector<ShardRange> lanes;
  };
  using QueueName = std::tuple<uint64_t, uint64_t, uint64_t>;  // Region, incarnation, epoch.

  void on_message(const Address& from, const pb::Message& message);
  void on_open(const Address& from, const pb::QueueOpen& open);
  void on_records(const Address& from, const pb::QueueRecords& records);

  std::string name_;
  RingOwner owner_;
  MemoryCoordination coordination_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Registration> registration_;
  std::map<QueueName, Queue> queues_;
  std::map<ShardId, QueueName> newest_;
  std::map<ShardId, std::vector<Seen>> seen_;
  std::map<ShardId, Position> next_;
  uint64_t opens_ = 0;
};

class NodeBed {
 public:
  explicit NodeBed(uint64_t seed = 1, MemoryLogFaults faults = {});
  ~NodeBed();

  // ---- nodes

  void start(const std::string& name);
  void crash(const std::string& name);  // kill -9: what was not synced may be lost.
  void lose_disk(const std::string& name);
  StorageNode& node(const std::string& name) { return *nodes_.at(name)->node; }
  MemoryDisk& disk(const std::string& name) { return *disks_.at(name); }
  bool is_up(const std::string& name) const { return nodes_.count(name) != 0; }

  // ---- facts: all of them are replaced as a whole

  // The next version of the map.
  void change_map(const std::function<void(pb::RegionMap&)>& change);
  const pb::RegionMap& map() const { return map_; }
  // One region over all shards, on these nodes, the first the owner. And a table.
  void bootstrap(const std::vector<std::string>& nodes);
  void move(uint64_t region, const std::string& to);
  void join(uint64_t region, const std::string& node);
  void leave(uint64_t region, const std::string& node);
  // By the protocol; runs until it is done.
  void split(uint64_t region, uint32_t at_shard);
  void merge(uint64_t low, uint64_t high);
  void set_ring(const std::vector<std::string>& members_by_shard);
  // Past cuts are forgotten by the coordinator when all lanes are past them; here they are all kept.
  pb::RegionEntry& entry(pb::RegionMap& map, uint64_t region);

  // ---- view managers

  PlainViewManager& start_view_manager(const std::string& name);
  void stop_view_manager(const std::string& name);
  PlainViewManager& view_manager(const std::string& name) { return *view_managers_.at(name); }

  // ---- clients

  Client& client() { return *client_; }
  // Puts text under a key; true is remembered when it was acknowledged.
  void write(const std::string& key, const std::string& text);
  size_t unanswered() const { return in_flight_.size(); }
  bool is_in_flight(const std::string& key) const { return in_flight_.count(key) != 0; }
  // What readers get; waits for it.
  std::map<std::string, std::string> read_all();
  // Texts acknowledged per key, in the order of writing. The last acknowledged one or a later one is there.
  const std::map<std::string, std::vector<std::string>>& written() const { return written_; }
  const std::set<std::string>& acknowledged() const { return acknowledged_; }
  void expect_nothing_lost();
  static uint64_t hash_of(const std::string& key);

  // ---- time

  void run_for(Micros time) { scheduler.run_until(Micros{scheduler.now().value + time.value}); }
  // False: it did not come to hold within a minute of virtual time.
  bool run_until(const std::function<bool()>& condition);
  bool owns(const std::string& name, uint64_t region);
  // Where every region of every node stands, for people who look at a failure.
  std::string describe();
  const pb::RegionStatus& status(const std::string& node, uint64_t region) {
    return statuses_[{node, region}];
  }

  VirtualScheduler scheduler;
  Random random;
  MemoryLogs logs;
  CoordinationTree tree;
  SimNetwork network;
  LogTroubles log_troubles;  // Of all nodes.
  std::vector<std::string> said;
  // Of nodes started from now on.
  size_t seed_chunk_bytes = NodeOptions{}.seed_chunk_bytes;
  size_t queues_per_member_max = FeedOptions{}.queues_per_member_max;

 private:
  struct Process {
    std::unique_ptr<MemoryCoordination> coordination;
    std::unique_ptr<Transport> transport;
    std::unique_ptr<LogStore> logs;
    std::unique_ptr<MemoryStore> store;
    Random random{0};
    NoArithmetic arithmetic;
    std::unique_ptr<StorageNode> node;
  };

  void write_fact(const std::string& path, const std::string& data);

  std::map<std::string, std::unique_ptr<MemoryDisk>> disks_;
  std::map<std::string, std::unique_ptr<Process>> nodes_;
  std::vector<std::unique_ptr<MemoryCoordination>> abandoned_;
  std::map<std::string, std::unique_ptr<PlainViewManager>> view_managers_;

  MemoryCoordination admin_;
  std::unique_ptr<Transport> coordinator_;
  std::map<std::pair<std::string, uint64_t>, pb::RegionStatus> statuses_;
  pb::RegionMap map_;
  pb::RingFact ring_;
  pb::Catalog catalog_;

  std::unique_ptr<Transport> client_transport_;
  std::unique_ptr<WatchedDirectory> directory_;
  std::unique_ptr<Client> client_;
  std::map<std::string, std::vector<std::string>> written_;
  std::set<std::string> acknowledged_;
  std::multiset<std::string> in_flight_;
};

}  // namespace tidemark
