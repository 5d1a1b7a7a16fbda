// A stream with an owner who writes it, a feed of it, and a transport that keeps what was sent.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/queue/stream_feed.h"
#include "node/reader_history.h"
#include "proto/change.h"
#include "tests/node/troubled_logs.h"
#include "tests/simulation/virtual_scheduler.h"
#include "wal/memory_log.h"
#include "wal/wal.h"

namespace tidemark {

class KeepingTransport : public Transport {
 public:
  void send(const Address& to, MessagePtr message) override { sent[to].push_back(std::move(message)); }
  size_t unsent_bytes(const Address& to) const override {
    auto found = unsent.find(to);
    return found == unsent.end() ? 0 : found->second;
  }
  void set_handlers(Handlers) override {}

  std::vector<pb::QueueEntry> entries(const Address& to) const {
    std::vector<pb::QueueEntry> out;
    uint64_t sequence = 0;
    auto found = sent.find(to);
    if (found == sent.end()) return out;
    for (const MessagePtr& message : found->second) {
      if (message->has_queue_open()) sequence = message->queue_open().sequence();
      // A lost close must be noticed like lost records.
      if (message->has_queue_close()) {
        EXPECT_EQ(message->queue_close().sequence(), ++sequence);
      }
      if (!message->has_queue_records()) continue;
      EXPECT_EQ(message->queue_records().sequence(), ++sequence);
      for (const pb::QueueEntry& entry : message->queue_records().entries()) out.push_back(entry);
    }
    return out;
  }
  size_t opens(const Address& to) const {
    size_t count = 0;
    auto found = sent.find(to);
    if (found == sent.end()) return 0;
    for (const MessagePtr& message : found->second) count += message->has_queue_open() ? 1 : 0;
    return count;
  }

  pb::QueueOpen last_open(const Address& to) const {
    pb::QueueOpen last;
    for (const MessagePtr& message : sent.at(to)) {
      if (message->has_queue_open()) last = message->queue_open();
    }
    return last;
  }

  std::map<Address, std::vector<MessagePtr>> sent;
  std::map<Address, size_t> unsent;
};

// "shard:text" of each change.
inline std::vector<std::string> changes_in(const std::string& bytes, ShardCount shards) {
  std::vector<std::string> out;
  ChangeReader reader(bytes);
  for (Change change; reader.next(change);) {
    out.push_back(std::to_string(shards.shard_of(change.hash).value) + ":" + std::string(change.key));
  }
  EXPECT_TRUE(reader.ok());
  return out;
}
inline std::vector<std::string> changes_in(const std::vector<pb::QueueEntry>& entries, ShardCount shards) {
  std::vector<std::string> out;
  for (const pb::QueueEntry& entry : entries) {
    for (std::string& change : changes_in(entry.changes(), shards)) out.push_back(std::move(change));
  }
  return out;
}

inline pb::Ring ring_of(uint64_t version, const std::vector<std::string>& members_by_shard) {
  pb::Ring ring;
  ring.set_version(version);
  for (uint32_t shard = 0; shard < members_by_shard.size(); ++shard) {
    *ring.add_members() = members_by_shard[shard];
    auto* slice = ring.add_slices();
    slice->mutable_shards()->set_begin(shard);
    slice->mutable_shards()->set_end(shard + 1);
    slice->set_member(shard);
  }
  return ring;
}

class FeedBed : public WalListener {
 public:
  static constexpr ShardCount kShards{4};
  static constexpr uint64_t kMuch = uint64_t{1} << 40;

  explicit FeedBed(FeedOptions options = {}) : rings(kShards) {
    logs = std::make_unique<MemoryLogs>(MemoryLogKind::Kafka, scheduler, Random(1));
    store = std::make_unique<TroubledLogs>(logs->connect(scheduler), log_troubles);
    store->create(stream, [](auto) {});
    scheduler.run();
    store->open(stream, [this](Result<std::unique_ptr<Log>, LogFailure> log) {
      wal = std::make_unique<Wal>(stream, std::move(*log), ReaderState{}, scheduler, *this);
      wal->open(MapVersion{1}, 77);
    });
    FeedIdentity identity{stream.region, Offset{0}, stream, kShards.all(), Generation{0}};
    StreamFeed::Listener listener;
    listener.on_lane_stopped = [this](ShardId lane, Position stop) { stopped[lane] = stop; };
    listener.on_failed = [this](const LogFailure& failure) {
      EXPECT_TRUE(log_troubles.read) << failure.message;
      ++failures;
    };
    listener.committed = [this](ShardRange lanes) { return committed.lowest(lanes); };
    listener.on_passed = [this] { ++passed; };
    feed = std::make_unique<StreamFeed>(identity, kShards, rings, scheduler, transport, options, listener);
    scheduler.run();
    feed->set_source(&wal->log(), [this](Offset from) { return history.at_or_before(from); });
  }

  // A commit with one change per shard given, named by a running number.
  void commit(const std::vector<uint32_t>& shards) {
    pb::RecordBody body;
    for (uint32_t shard : shards) {
      std::string key = std::to_string(written.size());
      Change change;
      change.table = TableId{1};
      change.hash = kShards.first_hash(ShardId{shard});
      change.key = key;
      change.after = "row";
      append_change(*body.mutable_commit()->mutable_changes(), change);
      written.push_back(std::to_string(shard) + ":" + key);
    }
    append(body);
  }
  void cut(uint64_t ring) {
    pb::RecordBody body;
    body.mutable_cut()->set_ring_version(ring);
    append(body);
  }
  void append(const pb::RecordBody& body) {
    wal->append(RecordKind::Body, body.SerializeAsString());
    run();
  }
  // Everything due within a tenth of a second.
  void run() { scheduler.run_until(Micros{scheduler.now().value + 100'000}); }
  void pump() {
    feed->pump();
    run();
  }

  QueueSlot open(const std::string& member, const std::vector<uint32_t>& lanes, uint64_t from = 0) {
    std::vector<LaneRun> runs;
    for (uint32_t lane : lanes) {
      runs.push_back({{ShardId{lane}, ShardId{lane + 1}}, {Generation{0}, Offset{from}, 0}});
    }
    return feed->open(rings.index_of(member), Address{member}, ++epoch, RingVersion{1}, runs);
  }
  void grant(uint64_t of_epoch, uint64_t bytes = kMuch, uint64_t sequence = 0) {
    pb::QueueCredit credit;
    credit.set_epoch(of_epoch);
    credit.set_bytes(bytes);
    credit.set_sequence(sequence);
    feed->on_credit(credit);
  }
  void credit(uint64_t of_epoch, uint64_t bytes = kMuch, uint64_t sequence = 0) {
    grant(of_epoch, bytes, sequence);
    pump();
  }
  std::vector<std::string> seen(const std::string& member) const {
    return changes_in(transport.entries(Address{member}), kShards);
  }
  std::vector<std::string> written_for(const std::vector<uint32_t>& shards) const {
    std::vector<std::string> out;
    for (const std::string& each : written) {
      uint32_t shard = static_cast<uint32_t>(std::stoul(each));
      if (std::count(shards.begin(), shards.end(), shard) != 0) out.push_back(each);
    }
    return out;
  }

  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override {
    history.note(state);
    FeedRecord out{at, state.next, nullptr, nullptr, record.payload.size()};
    if (record.header.kind == RecordKind::Body) {
      auto body = std::make_shared<pb::RecordBody>();
      EXPECT_TRUE(body->ParseFromString(record.payload));
      out.body = body;
    } else if (record.header.kind == RecordKind::Seal) {
      auto seal = std::make_shared<pb::Seal>();
      EXPECT_TRUE(seal->ParseFromString(record.payload));
      out.seal = seal;
    }
    feed->push(out);
  }
  void on_opened(Offset) override {}
  void on_ended(EndReason) override {}
  void on_caught_up(Offset) override {}
  void on_failed(const LogFailure& failure) override { FAIL() << failure.message; }
  void on_waiting(const LogFailure&) override {}

  StreamId stream{7, RegionId{3}};
  VirtualScheduler scheduler;
  KeepingTransport transport;
  Rings rings;
  ReaderHistory history;
  LogTroubles log_troubles;
  std::unique_ptr<MemoryLogs> logs;
  std::unique_ptr<LogStore> store;
  std::unique_ptr<Wal> wal;
  std::unique_ptr<StreamFeed> feed;
  std::vector<std::string> written;
  std::map<ShardId, Position> stopped;
  LaneRuns committed;
  int passed = 0;
  int failures = 0;
  uint64_t epoch = 0;
};

}  // namespace tidemark
