// A region with a log, rows and peers that a test controls: appends land when the test says so, and answers
// are found by the number of the request.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/region/region.h"
#include "node/region/sql_row_arithmetic.h"
#include "node/store/memory_row_store.h"
#include "proto/effect.h"
#include "proto/operation.h"
#include "tests/region/tables.h"
#include "wal/reader_rule.h"

namespace tidemark {

inline constexpr ShardCount kShards{16};

Position pos(uint32_t generation, uint64_t offset, uint32_t step = 0);
ShardRange shards(uint32_t begin, uint32_t end);

// One operation or effect on a row of a test table.
void add_put(std::string& out, const TestTable& table, const Cells& cells,
             OperationKind kind = OperationKind::Put);
void add_delete(std::string& out, const TestTable& table, const Cells& cells);
void add_effect(std::string& out, EffectKind kind, const TestTable& table, const Cells& cells);

struct LaneSpan {
  ShardRange lanes;
  Position prev;
  Position to;
  Position floor = {};
};
pb::EffectBatch make_batch(ShardRange part, const std::vector<LaneSpan>& lanes, std::string effects,
                           uint64_t catalog_version = 0);

// The log of one stream, as it became durable. Shared by the replicas of a test.
struct TestLog {
  std::vector<std::optional<WalRecord>> records;  // None: void.
};

class Rig {
 public:
  explicit Rig(RegionIdentity identity = {RegionId{1}, kShards.all(), Generation{1}, kShards},
               RegionOptions options = {});
  // Another replica, or a child: goes on from a state.
  Rig(RegionState state, MemoryRowStore rows, std::shared_ptr<TestLog> log, RegionOptions options = {});

  Region& region() { return *region_; }
  const RegionState& state() const { return region_->state(); }
  MemoryRowStore& rows() { return *rows_; }
  std::shared_ptr<TestLog> log() { return log_; }

  // Appends a fence and opens; what lies in the log before it is read first.
  void open(uint64_t map_version = 1);
  // The incarnation ends. The first `landing` of what is in flight are in the log after all.
  void end(size_t landing = 0);
  void read_log();  // As a reader: everything not yet read.

  void tick(int64_t micros = 0);
  Micros now() const { return now_; }
  size_t in_flight() const { return in_flight_.size(); }
  size_t land(size_t count = SIZE_MAX);  // Makes the first records in flight durable.
  void settle();                         // Ticks and lands until nothing is in flight.

  // ---- messages; each gives the number of the request
  uint64_t open_session();
  uint64_t write(const pb::WriteRequest& request);
  uint64_t effects(const pb::EffectBatch& batch);
  uint64_t positions();
  uint64_t wait(const pb::WaitRequest& request);
  uint64_t get(const TestTable& table, const Cells& cells, Position seen = {});
  uint64_t get(const pb::GetRequest& request);
  uint64_t scan(const pb::ScanRequest& request);
  uint64_t committed_request(const std::vector<LaneRun>& wanted);
  void report(ShardRange lanes, Position position);
  void committed_positions(ShardRange lanes, Position position);
  void facts(const RegionFacts& facts);
  void split(uint64_t low, uint64_t high);  // Facts that ask for a split into these two, halves of it.
  void catalog(const TestCatalog& catalog);
  void ring(uint64_t version);

  bool answered(uint64_t request) const { return replies_.contains(request); }
  const pb::Message& reply(uint64_t request) const;
  pb::EffectAnswer::Verdict verdict(uint64_t request) const {
    return reply(request).effects_answer().verdict();
  }
  pb::RefusalCode refused(uint64_t request) const { return reply(request).refusal().code(); }
  const std::vector<AskCommitted>& asks() const { return asks_; }
  bool refence_wanted() const { return refence_; }

  // ---- the whole way
  pb::SessionName session();  // Opens one and waits for it.
  pb::WriteRequest request(const pb::SessionName& session, uint64_t number, std::string operations,
                           uint64_t lowest = 1) const;
  // A request of a session of its own, which succeeds and is durable.
  pb::WriteReply put(const TestTable& table, const Cells& cells);
  // A batch that is accepted and durable. Its lanes go on from where the region is.
  void apply(const std::string& effects);
  std::optional<Cells> row(const TestTable& table, const Cells& key);  // Of durable rows.
  std::vector<Cells> all(const TestTable& table);
  // The decoded bodies in the log, and their changes.
  std::vector<pb::RecordBody> bodies() const;
  pb::RecordBody last_body() const;

  // Rebuilt from a snapshot and the rest of the log, it must be the same.
  uint64_t hash() const;

 private:
  Asker asker();
  void take(RegionCommands& out);
  void deliver(Offset at, const WalRecord& record);

  RegionOptions options_;
  std::unique_ptr<MemoryRowStore> rows_;
  SqlRowArithmetic arithmetic_;
  std::unique_ptr<Region> region_;
  std::shared_ptr<TestLog> log_;
  ReaderRule rule_;
  std::deque<AppendCommand> in_flight_;
  std::map<uint64_t, pb::Message> replies_;
  std::vector<AskCommitted> asks_;
  bool refence_ = false;
  uint64_t last_request_ = 0;
  Micros now_{1'000'000};
  std::optional<Offset> incarnation_;
  std::optional<pb::SessionName> put_session_;
  uint64_t put_number_ = 0;
  uint64_t batches_ = 0;
};

// The hash of a region's state and rows.
uint64_t hash_of(const RegionState& state, const MemoryRowStore& rows);

}  // namespace tidemark
