// What only Kafka can do wrong: topics with other settings, a client that fails, a broker that is away, an
// owner that was paused.
#include "wal/kafka_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "tests/servers/kafka.h"
#include "tests/wal/kafka_topics.h"
#include "tests/wal/raw_stream.h"
#include "tests/wal/replica.h"
#include "tests/wal/temporary_directory.h"
#include "tests/wal/test_loop.h"
#include "wal/kafka_admin.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

using Settings = std::map<std::string, std::string>;

const Settings kGood = {{"cleanup.policy", "delete"},
                        {"retention.ms", "-1"},
                        {"retention.bytes", "-1"},
                        {"unclean.leader.election.enable", "false"},
                        {"min.insync.replicas", "1"}};

servers::KafkaCluster& broker() {
  static servers::KafkaCluster cluster;
  return cluster;
}

class KafkaLogTest : public testing::Test {
 protected:
  void SetUp() override {
    TM_REQUIRE_KAFKA();
    open_store(broker().bootstrap());
  }
  void TearDown() override {
    store_.reset();
    logs_.reset();
  }

  void open_store(const std::string& brokers) {
    store_.reset();
    logs_.reset();
    auto opened = KafkaLogs::open({.brokers = brokers, .notice = [this](const std::string& what) {
                                     const std::lock_guard lock(mutex_);
                                     notices_.push_back(what);
                                   }});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    logs_ = std::move(*opened);
    store_ = logs_->connect(loop_);
  }
  StreamId next_stream() {
    static uint64_t region = 0;
    return {0xabc, RegionId{++region}};
  }
  StreamId new_stream() {
    const StreamId stream = next_stream();
    bool created = false;
    store_->create(stream, [&](auto done) { created = done.ok(); });
    EXPECT_TRUE(loop_.run_until([&] { return created; }));
    return stream;
  }
  Result<std::unique_ptr<Log>, LogFailure> open(StreamId stream) {
    std::optional<Result<std::unique_ptr<Log>, LogFailure>> outcome;
    store_->open(stream, [&](auto opened) { outcome.emplace(std::move(opened)); });
    EXPECT_TRUE(loop_.run_until([&] { return outcome.has_value(); }));
    return std::move(*outcome);
  }
  std::unique_ptr<Replica> owner(StreamId stream, uint64_t version = 1, uint64_t nonce = 1) {
    auto made = std::make_unique<Replica>(stream, *open(stream), loop_);
    made->wal->open(MapVersion{version}, nonce);
    EXPECT_TRUE(loop_.run_until([&] { return made->wal->owning(); }));
    return made;
  }
  // Why a topic with these settings is refused.
  std::string refusal(int partitions, Settings settings) {
    const StreamId stream = next_stream();
    KafkaTopics(broker().bootstrap()).create(kafka_topic_name(stream), partitions, 1, settings);
    const auto opened = open(stream);
    if (opened.ok()) return "not refused";
    EXPECT_EQ(opened.error().code, LogError::Refused);
    return opened.error().message;
  }
  static Settings good_but(const std::string& name, const std::string& value) {
    Settings settings = kGood;
    settings[name] = value;
    return settings;
  }
  bool was_noticed(const std::string& part) {
    const std::lock_guard lock(mutex_);
    for (const std::string& notice : notices_) {
      if (notice.find(part) != std::string::npos) return true;
    }
    return false;
  }

  TestLoop loop_;
  std::mutex mutex_;
  std::vector<std::string> notices_;
  std::unique_ptr<KafkaLogs> logs_;
  std::unique_ptr<LogStore> store_;
};

TEST_F(KafkaLogTest, ATopicThatCouldLoseRecordsIsRefusedByNameValueAndWantedValue) {
  EXPECT_EQ(refusal(1, kGood), "not refused");
  EXPECT_NE(refusal(2, kGood).find("partitions is 2, must be 1"), std::string::npos);
  EXPECT_NE(refusal(1, good_but("retention.ms", "604800000")).find("retention.ms is 604800000, must be -1"),
            std::string::npos);
  EXPECT_NE(refusal(1, good_but("retention.bytes", "1000000")).find("retention.bytes is 1000000, must be -1"),
            std::string::npos);
  EXPECT_NE(
      refusal(1, good_but("cleanup.policy", "compact")).find("cleanup.policy is compact, must be delete"),
      std::string::npos);
  EXPECT_NE(refusal(1, good_but("unclean.leader.election.enable", "true"))
                .find("unclean.leader.election.enable is true, must be false"),
            std::string::npos);
  EXPECT_NE(refusal(1, good_but("max.message.bytes", "100000"))
                .find("max.message.bytes is 100000, must be at least 1004096"),
            std::string::npos);
  const std::string two = refusal(2, good_but("retention.ms", "1"));
  EXPECT_NE(two.find("partitions is 2, must be 1; retention.ms is 1, must be -1"), std::string::npos) << two;
}

TEST_F(KafkaLogTest, BrokersThatMakeTopicsOfThemselvesAreRefused) {
  servers::KafkaCluster lax(servers::KafkaSize::One, {{"auto.create.topics.enable", "true"}});
  open_store(lax.bootstrap());
  const auto opened = open(new_stream());
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("the brokers' auto.create.topics.enable is true, must be false"),
            std::string::npos)
      << opened.error().message;
  // Nothing that was looked for has come to be by that.
  const auto missing = open(next_stream());
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("does not exist"), std::string::npos) << missing.error().message;
}

// Else it would have too few for ever, and be refused when all brokers are back.
TEST_F(KafkaLogTest, AStreamMadeWhileABrokerIsAwayGetsAllItsCopies) {
  servers::KafkaCluster three(servers::KafkaSize::Three);
  open_store(three.bootstrap());
  three.broker(2).kill();
  const StreamId stream = new_stream();
  three.broker(2).start();
  three.wait_until_ready();
  const auto opened = open(stream);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
}

TEST(KafkaCopies, ABrokerThatIsAwayCountsIfAnybodyTellsOfIt) {
  EXPECT_EQ(kafka_copies(1, 1, {}), 1u);
  EXPECT_EQ(kafka_copies(5, 1, {}), 3u);
  EXPECT_EQ(kafka_copies(2, 3, {}), 3u);
  EXPECT_EQ(kafka_copies(2, 1, {{"default.replication.factor", "3"}}), 3u);
  EXPECT_EQ(kafka_copies(1, 1, {{"default.replication.factor", "1"}}), 1u);
}

TEST_F(KafkaLogTest, SettingsThatTheRulesStandOnCanNotBeChosenAndValuesAreNotPrinted) {
  for (const auto& [name, value] : Settings{{"acks", "1"},
                                            {"enable.idempotence", "secret"},
                                            {"no.such.setting", "secret"},
                                            {"socket.timeout.ms", "secret"}}) {
    const auto opened = KafkaLogs::open({.brokers = "localhost:1", .settings = {{name, value}}});
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_NE(opened.error().message.find(name), std::string::npos) << opened.error().message;
    EXPECT_EQ(opened.error().message.find("secret"), std::string::npos) << opened.error().message;
  }
}

TEST_F(KafkaLogTest, AFatalErrorOfTheClientCostsOneIncarnation) {
  const StreamId stream = new_stream();
  auto one = owner(stream);
  auto other = owner(new_stream());
  for (uint64_t round = 0; round < 3; ++round) {
    const size_t before = one->bodies().size();
    for (int i = 0; i < 20; ++i) one->wal->append(RecordKind::Body, std::to_string(round * 100) + "+");
    logs_->break_producer();
    ASSERT_TRUE(loop_.run_until([&] { return logs_->producers_made() == round + 2; }));
    // Those that got through before are acknowledged; if one did not, the incarnation has ended.
    ASSERT_TRUE(loop_.run_until([&] { return one->wal->idle() || one->bodies().size() == before + 20; }));
    if (one->wal->idle()) one->wal->open(MapVersion{1}, 10 + round);
    ASSERT_TRUE(loop_.run_until([&] { return one->wal->owning(); }));
    one->wal->append(RecordKind::Body, "after");
    ASSERT_TRUE(loop_.run_until([&] { return !one->bodies().empty() && one->bodies().back() == "after"; }));
  }
  EXPECT_TRUE(was_noticed("the producer failed and was made anew"));
  other->wal->append(RecordKind::Body, "x");
  EXPECT_TRUE(loop_.run_until([&] { return other->bodies().size() == 1; }));
}

TEST_F(KafkaLogTest, ABrokerThatIsAwayIsWaitedForAndSaidToBe) {
  const char* seconds = std::getenv("TIDEMARK_OUTAGE_SECONDS");
  const std::chrono::seconds outage(seconds == nullptr ? 4 : std::atoi(seconds));
  servers::KafkaCluster own;
  open_store(own.bootstrap());
  const StreamId stream = new_stream();
  auto one = owner(stream);
  auto standby = std::make_unique<Replica>(stream, *open(stream), loop_);
  ASSERT_TRUE(loop_.run_until([&] { return standby->caught_up.has_value(); }));

  own.broker(0).kill();
  one->wal->append(RecordKind::Body, "waits");
  ASSERT_TRUE(loop_.run_until([&] { return was_noticed("1 appends wait"); }));
  std::optional<LogFailure> opened;
  store_->open(stream, [&](auto log) { opened = log.ok() ? LogFailure{} : log.error(); });
  ASSERT_TRUE(loop_.run_until([&] { return opened.has_value(); }));
  EXPECT_EQ(opened->code, LogError::Unavailable) << opened->message;
  loop_.run_for(std::chrono::duration_cast<std::chrono::milliseconds>(outage));
  EXPECT_TRUE(one->bodies().empty());
  EXPECT_TRUE(one->wal->owning());

  own.broker(0).restart();
  ASSERT_TRUE(loop_.run_until([&] { return !one->bodies().empty() || !one->ends.empty(); }));
  if (one->wal->idle()) {
    one->wal->open(MapVersion{1}, 2);
    ASSERT_TRUE(loop_.run_until([&] { return one->wal->owning(); }));
  }
  one->wal->append(RecordKind::Body, "goes on");
  // The standby may read it before the owner hears that it is there.
  const auto has_it = [](const Replica& replica) {
    const std::vector<std::string> bodies = replica.bodies();
    return !bodies.empty() && bodies.back() == "goes on";
  };
  ASSERT_TRUE(loop_.run_until([&] { return has_it(*standby) && has_it(*one); }));
  EXPECT_EQ(standby->bodies(), one->bodies());
  one.reset();
  standby.reset();
  store_.reset();
  logs_.reset();
}

// A real process, with appends in flight, is stopped; another opens the stream; the first wakes up and goes
// on.
TEST_F(KafkaLogTest, AnOwnerThatWasPausedGetsNothingMoreAcknowledged) {
  const StreamId stream = new_stream();
  TemporaryDirectory directory;
  const std::string told = directory.path() / "told";
  const pid_t zombie = ::fork();
  if (zombie == 0) {
    ::execl(TIDEMARK_ZOMBIE_OWNER, "zombie", broker().bootstrap().c_str(), stream_name(stream).c_str(),
            told.c_str(), nullptr);
    ::_exit(127);
  }
  auto lines = [&] {
    std::vector<std::string> all;
    std::ifstream in(told);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  };
  EXPECT_TRUE(loop_.run_until([&] { return lines().size() > 50; }));
  ::kill(zombie, SIGSTOP);
  auto fresh = owner(stream, 2, 99);
  fresh->wal->append(RecordKind::Body, "new 1");
  ASSERT_TRUE(loop_.run_until([&] { return fresh->bodies().back() == "new 1"; }));
  const Offset fence = *fresh->incarnation;
  const size_t before = lines().size();
  ::kill(zombie, SIGCONT);
  EXPECT_TRUE(loop_.run_until([&] { return !lines().empty() && lines().back().starts_with("ended"); }));
  EXPECT_GE(lines().size(), before);
  ::kill(zombie, SIGKILL);
  ::waitpid(zombie, nullptr, 0);
  // What it sent late ended the new incarnation; it opens again and is left alone.
  if (fresh->wal->owning()) fresh->wal->append(RecordKind::Body, "new 2");
  ASSERT_TRUE(loop_.run_until([&] { return !fresh->wal->owning() || fresh->bodies().back() == "new 2"; }));
  if (fresh->wal->idle()) {
    fresh->wal->open(MapVersion{2}, 100);
    ASSERT_TRUE(loop_.run_until([&] { return fresh->wal->owning(); }));
    fresh->wal->append(RecordKind::Body, "new 3");
    ASSERT_TRUE(loop_.run_until([&] { return fresh->bodies().back() == "new 3"; }));
  }
  RawStream raw;
  for (const std::string& bytes : KafkaTopics(broker().bootstrap()).read_all(kafka_topic_name(stream)))
    raw.add(bytes);
  size_t late = 0;
  std::vector<std::string> valid;
  for (size_t at = 0; at < raw.records().size(); ++at) {
    const RawRecord& record = raw.records()[at];
    const bool is_zombies = record.kind == RawRecord::Body && record.payload.starts_with("old");
    if (is_zombies && at > fence.value) {
      ++late;
      EXPECT_FALSE(record.is_valid) << at;
    }
    if (record.kind == RawRecord::Body && record.is_valid) valid.push_back(record.payload);
  }
  EXPECT_GT(late, 0u);
  EXPECT_EQ(valid, fresh->bodies());
  // Every line that it told as acknowledged is a valid record before the fence.
  for (const std::string& line : lines()) {
    if (!line.starts_with("acknowledged ")) continue;
    const size_t at = std::strtoull(line.c_str() + 13, nullptr, 10);
    EXPECT_LT(at, fence.value);
    EXPECT_TRUE(raw.records().at(at).is_valid);
  }
}

}  // namespace
}  // namespace tidemark
