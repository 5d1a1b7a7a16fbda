// Random histories of a stream: nodes that crash, pause and read an old region map, over a log with every
// fault. A body names the body that its writer believed to be the last, so loss, repetition and order are
// visible. A reader that shares only the record format with wal/ judges the outcome.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/simulation/virtual_scheduler.h"
#include "tests/wal/raw_stream.h"
#include "tests/wal/replica.h"
#include "wal/memory_log.h"

namespace tidemark {
namespace {

constexpr StreamId kStream{1, RegionId{1}};
constexpr int kNodes = 3;

struct RegionMap {
  MapVersion version{1};
  int owner = 0;
};

struct Body {
  uint64_t id;
  uint64_t previous;
};
std::string format(Body body) {
  return std::to_string(body.id) + " " + std::to_string(body.previous);
}
Body parse(const std::string& payload) {
  char* rest = nullptr;
  const uint64_t id = std::strtoull(payload.c_str(), &rest, 10);
  return {id, std::strtoull(rest, nullptr, 10)};
}

class World;

// A node as the design wants it: it opens when its map names it, serves, and stops at any doubt.
class Node : public WalListener {
 public:
  Node(World& world, int number) : world_(world), number_(number) {}

  void start();
  void crash();
  bool up() const { return wal_ != nullptr; }
  bool owning() const { return up() && wal_->owning(); }
  void append();
  void stop() { wal_->stop_owning(); }
  void look_at_map(const RegionMap& map) {
    if (map.version > map_.version) map_ = map;
    open_if_named();
  }
  void stop_unless_named() {
    if (map_.owner != number_) stop();
  }
  void pause() { scheduler_->pause(); }
  void resume() { scheduler_->resume(); }

  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override;
  void on_opened(Offset) override { believed_last_ = last_; }
  void on_ended(EndReason) override { open_if_named(); }
  void on_caught_up(Offset) override {}
  void on_failed(const LogFailure& failure) override { FAIL() << failure.message; }
  void on_waiting(const LogFailure&) override {}

  const std::vector<SeenRecord>& seen() const { return seen_; }

 private:
  void open_if_named();

  World& world_;
  int number_;
  RegionMap map_;
  uint64_t last_ = 0;           // Of what was brought.
  uint64_t believed_last_ = 0;  // With what is in flight.
  std::vector<SeenRecord> seen_;
  std::unique_ptr<ProcessScheduler> scheduler_;
  std::unique_ptr<LogStore> store_;
  std::unique_ptr<Wal> wal_;
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed), logs_(MemoryLogKind::Kafka, clock_, random_.fork()) {
    auto store = logs_.connect(clock_);
    store->create(kStream, [](auto) {});
    clock_.run();
    for (int i = 0; i < kNodes; ++i) nodes_.push_back(std::make_unique<Node>(*this, i));
    for (auto& node : nodes_) node->start();
  }

  void run_with_faults();
  void settle();
  void check() const;
  std::string transcript() const;
  const MemoryLogCounters& counters() const { return logs_.counters(); }

  VirtualScheduler& clock() { return clock_; }
  MemoryLogs& logs() { return logs_; }
  uint64_t next_id() { return ++ids_; }
  uint64_t next_nonce() { return ++nonces_; }
  void acknowledge(uint64_t id, Offset at) { EXPECT_TRUE(acknowledged_.emplace(id, at).second) << id; }
  size_t acknowledged() const { return acknowledged_.size(); }

 private:
  MemoryLogFaults draw_faults();
  void act();
  std::vector<SeenRecord> truth() const;

  Random random_;
  VirtualScheduler clock_;
  MemoryLogs logs_;
  RegionMap map_;
  std::vector<std::unique_ptr<Node>> nodes_;
  uint64_t ids_ = 0;
  uint64_t nonces_ = 0;
  std::map<uint64_t, Offset> acknowledged_;
};

void Node::start() {
  scheduler_ = std::make_unique<ProcessScheduler>(world_.clock());
  store_ = world_.logs().connect(*scheduler_);
  store_->open(kStream, [this](auto log) {
    if (!log.ok()) return scheduler_->post_after(Micros{1000}, [this] { start(); });
    wal_ = std::make_unique<Wal>(kStream, std::move(*log), ReaderState{}, *scheduler_, *this);
    open_if_named();
  });
}

void Node::crash() {
  wal_.reset();
  store_.reset();
  scheduler_->kill();
  seen_.clear();
  last_ = 0;
}

void Node::open_if_named() {
  // A node does not act on a map older than the fence it has read.
  if (!up() || !wal_->idle() || map_.owner != number_) return;
  if (wal_->state().sealed || wal_->state().fence_version > map_.version) return;
  wal_->open(map_.version, world_.next_nonce());
}

void Node::append() {
  if (!wal_->can_append()) return;
  const uint64_t id = world_.next_id();
  wal_->append(RecordKind::Body, format({id, believed_last_}));
  believed_last_ = id;
}

void Node::on_record(Offset at, const WalRecord& record, const ReaderState&) {
  seen_.push_back({at, record.header.kind, record.payload});
  if (record.header.kind != RecordKind::Body) return;
  last_ = parse(record.payload).id;
  if (owning()) world_.acknowledge(last_, at);
}

MemoryLogFaults World::draw_faults() {
  auto some = [this] { return random_.chance(0.5) ? 0.0 : random_.unit() * 0.1; };
  MemoryLogFaults faults{.late = some(),
                         .unknown = some(),
                         .no_offset = some(),
                         .duplicate = some(),
                         .duplicate_reported = some(),
                         .lost = some(),
                         .unavailable = some()};
  faults.append_delay_max = Micros{random_.between(10, 5000)};
  faults.late_delay_max = Micros{random_.between(1000, 100'000)};
  return faults;
}

void World::act() {
  Node& node = *nodes_[random_.below(kNodes)];
  const uint64_t what = random_.below(100);
  if (what < 60) {
    for (auto& any : nodes_) {
      for (uint64_t n = random_.below(4); any->owning() && n > 0; --n) any->append();
    }
  } else if (what < 75) {
    node.look_at_map(map_);
  } else if (what < 80) {
    map_ = {MapVersion{map_.version.value + 1}, static_cast<int>(random_.below(kNodes))};
  } else if (what < 85) {
    node.pause();
  } else if (what < 94) {
    node.resume();
  } else if (what < 96) {
    node.crash();
    node.start();
  } else if (what < 98) {
    logs_.set_available(random_.chance(0.7));
  } else if (node.owning()) {
    node.stop();
  }
}

void World::run_with_faults() {
  logs_.set_faults(draw_faults());
  for (int i = 0; i < 300; ++i) {
    act();
    clock_.run_until(Micros{clock_.now().value + random_.between(0, 4000)});
  }
}

// Faults end; the node that the map names must serve, and all must read the same.
void World::settle() {
  logs_.set_faults({});
  logs_.set_available(true);
  for (auto& node : nodes_) node->resume();
  for (auto& node : nodes_) node->look_at_map(map_);
  clock_.run();
  // An owner does not read its log: one that is no longer named and has nothing to append must be told.
  for (auto& node : nodes_) node->stop_unless_named();
  clock_.run();
  Node& owner = *nodes_[static_cast<size_t>(map_.owner)];
  for (int attempt = 0; attempt < 3; ++attempt) {  // A last late record may still cost one incarnation.
    ASSERT_TRUE(owner.owning());
    const size_t before = acknowledged();
    owner.append();
    clock_.run();
    if (acknowledged() > before) return;
  }
  FAIL() << "the owner does not get an append acknowledged";
}

std::vector<SeenRecord> World::truth() const {
  RawStream raw;
  for (const LogEntry& entry : logs_.entries(kStream)) raw.add(entry.bytes);
  std::vector<SeenRecord> valid;
  for (size_t at = 0; at < raw.records().size(); ++at) {
    const RawRecord& record = raw.records()[at];
    if (record.is_valid) valid.push_back({Offset{at}, static_cast<RecordKind>(record.kind), record.payload});
  }
  return valid;
}

void World::check() const {
  const auto valid = truth();
  std::map<uint64_t, Offset> ids;
  uint64_t last = 0;
  for (const SeenRecord& record : valid) {
    if (record.kind != RecordKind::Body) continue;
    const Body body = parse(record.payload);
    ASSERT_EQ(body.previous, last) << "at offset " << record.at;
    last = body.id;
    ASSERT_TRUE(ids.emplace(body.id, record.at).second) << "counts twice: " << body.id;
  }
  for (const auto& [id, at] : acknowledged_) {
    ASSERT_TRUE(ids.contains(id)) << "acknowledged but void: " << id;
    ASSERT_EQ(ids.at(id), at);
  }
  for (const auto& node : nodes_) ASSERT_EQ(node->seen(), valid);
}

std::string World::transcript() const {
  std::string all;
  for (const LogEntry& entry : logs_.entries(kStream)) all += entry.bytes;
  return all;
}

std::string run(uint64_t seed, MemoryLogCounters* total = nullptr, size_t* acknowledged = nullptr) {
  World world(seed);
  world.run_with_faults();
  world.settle();
  world.check();
  if (total != nullptr) {
    const MemoryLogCounters& c = world.counters();
    total->late += c.late;
    total->unknown += c.unknown;
    total->no_offset += c.no_offset;
    total->duplicate += c.duplicate;
    total->duplicate_reported += c.duplicate_reported;
    total->lost += c.lost;
    total->unavailable += c.unavailable;
    *acknowledged += world.acknowledged();
  }
  return world.transcript();
}

TEST(WalHistories, WhatIsAcknowledgedCountsAndEveryReplicaReadsTheSame) {
  const char* chosen = std::getenv("WAL_SEED");
  const uint64_t first = chosen == nullptr ? 0 : std::strtoull(chosen, nullptr, 10);
  const uint64_t count = chosen == nullptr ? 400 : 1;
  MemoryLogCounters total;
  size_t acknowledged = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("WAL_SEED=" + std::to_string(seed) + " wal_histories_test");
    run(seed, &total, &acknowledged);
    if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) return;
  }
  if (chosen != nullptr) return;
  EXPECT_GT(acknowledged, count * 10);
  for (uint64_t met : {total.late, total.unknown, total.no_offset, total.duplicate, total.duplicate_reported,
                       total.lost, total.unavailable}) {
    EXPECT_GT(met, 100u);
  }
}

TEST(WalHistories, TheSameSeedEndsTheSameWay) {
  for (uint64_t seed = 1000; seed < 1020; ++seed) EXPECT_EQ(run(seed), run(seed)) << seed;
}

}  // namespace
}  // namespace tidemark
