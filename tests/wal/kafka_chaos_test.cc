// Three brokers under load, killed, paused and restarted, while streams move between two nodes. A reader that
// shares nothing with wal/ then accounts for every record of every topic.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "tests/servers/kafka.h"
#include "tests/wal/kafka_topics.h"
#include "tests/wal/raw_stream.h"
#include "tests/wal/replica.h"
#include "tests/wal/test_loop.h"
#include "wal/kafka_log.h"

namespace tidemark {
namespace {

constexpr size_t kStreams = 3;
constexpr size_t kNodes = 2;

struct RegionMap {
  MapVersion version{1};
  size_t owner = 0;
};

// What became of what was sent to one stream.
struct Account {
  StreamId stream;
  RegionMap map;
  std::map<uint64_t, Offset> acknowledged;
  std::set<uint64_t> unknown;  // In flight when an incarnation ended.
  uint64_t sent = 0;
};

class Node : public Replica {
 public:
  Node(size_t number, Account& account, std::unique_ptr<Log> log, Scheduler& loop)
      : Replica(account.stream, std::move(log), loop), number_(number), account_(account) {}

  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override {
    Replica::on_record(at, record, state);
    if (!wal->owning() || record.header.kind != RecordKind::Body) return;
    const uint64_t id = std::strtoull(record.payload.c_str(), nullptr, 10);
    ASSERT_EQ(in_flight_.erase(id), 1u);
    ASSERT_TRUE(account_.acknowledged.emplace(id, at).second);
  }
  void on_ended(EndReason reason) override {
    Replica::on_ended(reason);
    account_.unknown.merge(in_flight_);
    in_flight_.clear();
  }

  // Now and then: opens if the map names it, appends if it owns.
  void act(bool stops) {
    if (wal->idle() && account_.map.owner == number_ && wal->state().fence_version <= account_.map.version) {
      wal->open(account_.map.version, ++nonces_);
    }
    while (!stops && wal->can_append() && in_flight_.size() < 64) {
      const uint64_t id = ++account_.sent;
      in_flight_.insert(id);
      wal->append(RecordKind::Body, std::to_string(id));
    }
  }
  bool quiet() const { return in_flight_.empty(); }

 private:
  static inline uint64_t nonces_ = 0;
  const size_t number_;
  Account& account_;
  std::set<uint64_t> in_flight_;
};

class Chaos : public testing::Test {
 protected:
  void start() {
    for (size_t i = 0; i < kNodes; ++i) {
      logs_.push_back(std::move(
          *KafkaLogs::open({.brokers = kafka_->bootstrap(), .notice = [this](const auto&) { ++notices_; }})));
      stores_.push_back(logs_.back()->connect(loop_));
    }
    for (size_t s = 0; s < kStreams; ++s) {
      accounts_.push_back({});
      accounts_[s].stream = {0xc4a05, RegionId{s + 1}};
      bool created = false;
      stores_[0]->create(accounts_[s].stream, [&](auto done) { created = done.ok(); });
      ASSERT_TRUE(loop_.run_until([&] { return created; }));
    }
    for (size_t s = 0; s < kStreams; ++s) {
      for (size_t n = 0; n < kNodes; ++n) nodes_.push_back(make_node(n, accounts_[s]));
    }
  }
  std::unique_ptr<Node> make_node(size_t number, Account& account) {
    std::unique_ptr<Log> log;
    stores_[number]->open(account.stream, [&](auto opened) {
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      log = std::move(*opened);
    });
    EXPECT_TRUE(loop_.run_until([&] { return log != nullptr; }));
    return std::make_unique<Node>(number, account, std::move(log), loop_);
  }

  void load(bool stops) {
    for (auto& node : nodes_) {
      node->act(stops);
      ASSERT_FALSE(node->failed.has_value()) << node->failed->message;
    }
    loop_.run_for(std::chrono::milliseconds(2));
  }

  // One broker at a time: two of three keep every acknowledged record.
  void disturb(std::mt19937 random) {
    for (uint64_t turn = random(); !stop_disturbing_; ++turn) {  // Each kind in turn, from any one on.
      servers::Server& broker = kafka_->broker(random() % 3);
      const auto pause = std::chrono::milliseconds(1000 + random() % 12'000);
      switch (turn % 3) {
        case 0:
          broker.kill();
          wait(std::chrono::milliseconds(random() % 3000));
          broker.restart();
          ++kills_;
          break;
        case 1:
          broker.pause();
          wait(pause);
          broker.resume();
          ++pauses_;
          break;
        default:
          broker.stop();
          broker.start();
          ++stops_;
      }
      kafka_->wait_until_ready();
      wait(std::chrono::milliseconds(500));
    }
  }
  void wait(std::chrono::milliseconds span) {
    const auto end = std::chrono::steady_clock::now() + span;
    while (!stop_disturbing_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  void check(const Account& account);

  std::unique_ptr<servers::KafkaCluster> kafka_;
  TestLoop loop_;
  std::vector<std::unique_ptr<KafkaLogs>> logs_;
  std::vector<std::unique_ptr<LogStore>> stores_;
  std::vector<Account> accounts_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::atomic<uint64_t> notices_ = 0;
  std::atomic<bool> stop_disturbing_ = false;
  int kills_ = 0;
  int pauses_ = 0;
  int stops_ = 0;
};

void Chaos::check(const Account& account) {
  RawStream raw;
  for (const std::string& bytes :
       KafkaTopics(kafka_->bootstrap()).read_all(kafka_topic_name(account.stream))) {
    raw.add(bytes);
  }
  std::map<uint64_t, Offset> valid;
  std::vector<std::string> bodies;
  size_t void_bodies = 0;
  size_t fences = 0;
  for (size_t at = 0; at < raw.records().size(); ++at) {
    const RawRecord& record = raw.records()[at];
    if (record.kind == RawRecord::Fence) {
      ++fences;
      continue;
    }
    const uint64_t id = std::strtoull(record.payload.c_str(), nullptr, 10);
    ASSERT_TRUE(id >= 1 && id <= account.sent) << "nobody sent " << record.payload;
    if (!record.is_valid) {
      ++void_bodies;
      continue;
    }
    ASSERT_TRUE(valid.emplace(id, Offset{at}).second) << "counts twice: " << id;
    ASSERT_TRUE(account.acknowledged.contains(id) || account.unknown.contains(id))
        << id << " counts, but was neither acknowledged nor reported unknown";
    bodies.push_back(record.payload);
  }
  for (const auto& [id, at] : account.acknowledged) {
    ASSERT_TRUE(valid.contains(id)) << "acknowledged but void or lost: " << id;
    ASSERT_EQ(valid.at(id), at);
  }
  for (uint64_t id = 1; id <= account.sent; ++id) {
    ASSERT_NE(account.acknowledged.contains(id), account.unknown.contains(id)) << id;
  }
  const auto index = static_cast<size_t>(&account - accounts_.data());
  for (size_t n = 0; n < kNodes; ++n) EXPECT_EQ(nodes_[index * kNodes + n]->bodies(), bodies);
  std::printf(
      "stream %llu: %llu sent, %zu acknowledged, %zu unknown of which %zu count; raw: %zu fences, %zu valid, "
      "%zu void\n",
      static_cast<unsigned long long>(account.stream.region.value),
      static_cast<unsigned long long>(account.sent), account.acknowledged.size(), account.unknown.size(),
      valid.size() - account.acknowledged.size(), fences, valid.size(), void_bodies);
}

TEST_F(Chaos, EveryRecordIsAccountedFor) {
  TM_REQUIRE_KAFKA();
  const char* wanted = std::getenv("TIDEMARK_CHAOS_SECONDS");
  const std::chrono::seconds span(wanted == nullptr ? 45 : std::atoi(wanted));
  const char* chosen = std::getenv("TIDEMARK_CHAOS_SEED");
  const unsigned seed = chosen == nullptr ? std::random_device{}() : static_cast<unsigned>(std::atoi(chosen));
  std::printf("TIDEMARK_CHAOS_SEED=%u TIDEMARK_CHAOS_SECONDS=%lld\n", seed,
              static_cast<long long>(span.count()));
  std::mt19937 random(seed);
  kafka_ = std::make_unique<servers::KafkaCluster>(servers::KafkaSize::Three);
  ASSERT_NO_FATAL_FAILURE(start());

  std::thread disturber([&] { disturb(std::mt19937(seed + 1)); });
  const auto end = std::chrono::steady_clock::now() + span;
  while (std::chrono::steady_clock::now() < end && !HasFatalFailure()) {
    load(false);
    if (random() % 1000 == 0) {  // A region moves.
      Account& account = accounts_[random() % kStreams];
      account.map = {MapVersion{account.map.version.value + 1}, 1 - account.map.owner};
    }
  }
  stop_disturbing_ = true;
  disturber.join();
  ASSERT_FALSE(HasFatalFailure());

  // Faults are over: every stream's owner must serve, and all in flight must be settled.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  for (Account& account : accounts_) {
    const size_t before = account.acknowledged.size();
    while (account.acknowledged.size() == before && std::chrono::steady_clock::now() < deadline) load(false);
    EXPECT_GT(account.acknowledged.size(), before) << "stream " << account.stream << " does not serve";
  }
  auto all_quiet = [&] {
    for (auto& node : nodes_) {
      if (!node->quiet()) return false;
    }
    return true;
  };
  while (!all_quiet() && std::chrono::steady_clock::now() < deadline) load(true);
  EXPECT_TRUE(all_quiet());
  // An owner does not read its log; when it stops, it catches up.
  for (auto& node : nodes_) node->wal->stop_owning();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto records =
        KafkaTopics(kafka_->bootstrap()).read_all(kafka_topic_name(accounts_[i / kNodes].stream));
    EXPECT_TRUE(loop_.run_until([&] { return nodes_[i]->wal->state().next.value == records.size(); }));
  }
  std::printf("%d kills, %d pauses, %d stops; %llu + %llu producers; %llu notices\n", kills_, pauses_, stops_,
              static_cast<unsigned long long>(logs_[0]->producers_made()),
              static_cast<unsigned long long>(logs_[1]->producers_made()),
              static_cast<unsigned long long>(notices_.load()));
  for (const Account& account : accounts_) check(account);
  EXPECT_GT(kills_ + pauses_ + stops_, 0);
  nodes_.clear();
  stores_.clear();
  logs_.clear();
}

TEST_F(Chaos, ThreeBrokersWantThreeCopies) {
  TM_REQUIRE_KAFKA();
  servers::KafkaCluster kafka(servers::KafkaSize::Three);
  auto logs = std::move(*KafkaLogs::open({.brokers = kafka.bootstrap()}));
  auto store = logs->connect(loop_);
  const StreamId stream{0xc4a05, RegionId{99}};
  KafkaTopics(kafka.bootstrap())
      .create(kafka_topic_name(stream), 1, 1,
              {{"retention.ms", "-1"}, {"retention.bytes", "-1"}, {"min.insync.replicas", "1"}});
  std::optional<LogFailure> failure;
  store->open(stream, [&](auto opened) { failure = opened.error(); });
  ASSERT_TRUE(loop_.run_until([&] { return failure.has_value(); }));
  EXPECT_NE(
      failure->message.find("replication factor is 1, must be at least 3; min.insync.replicas is 1, must be "
                            "at least 2"),
      std::string::npos)
      << failure->message;
}

}  // namespace
}  // namespace tidemark
