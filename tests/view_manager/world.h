// A small world around real view managers' cores: naive regions that keep rows in maps and decide about
// batches by the letter of the rule, and a network that loses, doubles, delays and reorders. A seed decides
// everything. Every accepted batch is compared with what the log says it must hold (PTO2, PTO3, PTO5); every
// reported position with what has been applied; at the end all must be applied, silent and equal to the views
// evaluated from scratch.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/lane_runs.h"
#include "base/random.h"
#include "tests/view_manager/sample_program.h"
#include "view_manager/core.h"

namespace tidemark {

using Probes = std::map<std::string, uint64_t>;

class World {
 public:
  World(uint64_t seed, Probes& probes);
  ~World();

  // Empty, or what was violated.
  std::string run();
  // Of everything that was said: equal for equal seeds.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  static constexpr ShardCount kShards{8};

  struct Queue {
    Address view_manager;
    RegionId stream;
    uint64_t epoch = 0;
    LaneSet lanes;
    LaneRuns stops;  // Lanes that a cut gave to another end there.
    MessagePtr open;
    bool opened = false;  // A credit came.
    Offset next;
    uint64_t sequence = 1;
    size_t credit = 0, cost = 0;
  };
  struct Part {
    ShardRange shards;
    LaneRuns applied;
  };
  struct Region {
    RegionId id;
    ShardRange shards;
    Generation generation;
    std::vector<pb::QueueEntry> log;
    std::map<TableId, sample::Rows> rows;
    std::vector<Part> parts;
    LaneRuns committed;
    uint64_t ring = 0;
    bool sealed = false;
    bool silent = false;
    std::vector<Queue> queues;
    Address address() const { return {"r" + std::to_string(id.value)}; }
  };
  struct Process {
    std::string identity;
    Address address;
    std::unique_ptr<sample::SampleProgram> program;
    std::unique_ptr<ViewManagerCore> core;
  };
  struct InFlight {
    Address from, to;
    MessagePtr message;
  };
  struct Truth {
    Position start;
    ShardId shard;
    EffectKind kind;
    TableId table;
    sample::Ints key, row;
  };

  // Logs and rows.
  Region& owner(ShardId shard);
  Region& stream_of(ShardId lane, Generation generation);
  void append(Region& region, pb::QueueEntry entry);
  void change(Region& region, TableId table, const sample::Ints& key, std::optional<sample::Ints> after,
              pb::QueueEntry& out);
  uint64_t ring_at(ShardId lane, Position position);

  // What happens.
  void write();
  void cut();
  void split();
  void merge();
  void unify(Region& region);
  void crash();
  void new_ring();
  void new_catalog();
  void forget_zombie();
  void deliver_one();
  void advance(int64_t millis);

  // Regions.
  void serve(Region& region);
  void send_records(Region& region, Queue& queue);
  void on_message(Region& region, const InFlight& message);
  void on_batch(Region& region, const InFlight& message, const pb::EffectBatch& batch);
  void on_report(Region& region, const pb::CommittedReport& report);
  void answer(Region& region, const InFlight& asked, pb::EffectAnswer::Verdict verdict);
  std::string admit(Region& region, const pb::EffectBatch& batch, Part*& part);
  void apply(Region& region, const pb::EffectBatch& batch);
  void verify(const Region& region, const pb::EffectBatch& batch);
  enum class Whose : uint8_t { Anybodys, Own };
  bool passes(ShardId lane, Position from, Position to, Whose changes);

  // View managers.
  void start(const std::string& identity);
  void tell(Process& process);
  void pump(Process& process);
  Process* alive(const std::string& identity);

  void send(const Address& from, const Address& to, std::shared_ptr<pb::Message> message);
  void handle(const InFlight& message);
  void fail(const std::string& what);
  void check_memory(const Process& process);
  void round();
  void finish();
  void final_check();
  void count(const Process& process);
  pb::RingFact ring_fact() const;
  pb::RegionMap region_map() const;

  Random random_;
  Probes& probes_;
  std::string failure_;
  uint64_t fingerprint_ = 0;
  Micros now_{1000};
  ViewManagerLimits limits_;

  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<std::vector<Truth>> truth_;  // Per lane.
  std::vector<pb::Ring> rings_;
  std::vector<std::unique_ptr<Process>> processes_, zombies_;
  std::deque<InFlight> network_;
  uint64_t next_region_ = 1, next_epoch_ = 1, boots_ = 0, members_ = 0;
  CatalogVersion catalog_{1};
  uint64_t appends_ = 0;

  double loss_, repeat_, reorder_, busy_;
  double chop_ = 0.2;  // Of messages of a queue.
  int64_t keys_, groups_;
  size_t largest_entry_ = 0;   // Effects of one record, in bytes.
  size_t largest_change_ = 0;  // Cost of one entry.
};

}  // namespace tidemark
