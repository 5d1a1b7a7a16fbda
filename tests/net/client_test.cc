// The client against naive regions on a simulated network: nothing is done twice, and what it says is true.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "net/client.h"
#include "proto/convert.h"
#include "proto/messages.pb.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {
namespace {

constexpr ShardCount kShards{16};

class FixedDirectory : public RegionDirectory {
 public:
  const RegionPlace* find(ShardId shard) const override {
    for (const RegionPlace& place : places) {
      if (place.shards.contains(shard)) return &place;
    }
    return nullptr;
  }
  void look_again() override { ++looks; }

  std::vector<RegionPlace> places;
  int looks = 0;
};

// All regions of the world, naively: rows are lists of who wrote them; entries per (session, number, shard).
struct NaiveRegions {
  explicit NaiveRegions(SimNetwork& network, Scheduler& process)
      : transport(network.connect(Address{"server"}, process)) {
    transport->set_handlers({[this](const Address& from, MessagePtr message) { serve(from, *message); }, {}});
  }

  void serve(const Address& from, const pb::Message& message) {
    pb::Message answer;
    answer.set_request(message.request());
    if (refuse_next > 0) {
      --refuse_next;
      answer.mutable_refusal()->set_code(refuse_with);
      if (on_refused) on_refused();
    } else if (message.has_open_session()) {
      open(message.open_session(), *answer.mutable_session_opened());
    } else if (message.has_write()) {
      write(message.write(), answer);
    } else if (message.has_scan()) {
      scan(message.scan(), *answer.mutable_rows());
    } else if (message.has_get()) {
      get(message.get(), *answer.mutable_rows());
      if (std::exchange(late_get, false)) {
        late = std::move(answer);
        return;
      }
      if (late) transport->send(from, std::make_shared<pb::Message>(*std::exchange(late, std::nullopt)));
    } else if (message.has_wait()) {
      ++waits;
      const uint64_t region = message.wait().region();
      pb::LaneRun& reached = *answer.mutable_waited()->mutable_reached();
      *reached.mutable_lanes() = to_pb(directory->places[region - 1].shards);
      *reached.mutable_position() = to_pb(ends[region]);
      if (waits == late_wait) {
        late = std::move(answer);
        return;
      }
      if (late) answer = *std::exchange(late, std::nullopt);  // To the next question.
    }
    transport->send(from, std::make_shared<pb::Message>(answer));
  }

  void open(const pb::OpenSessionRequest& request, pb::OpenSessionReply& reply) {
    reply.mutable_session()->set_region(request.region());
    reply.mutable_session()->set_offset(++last_session);
    sessions.insert({request.region(), last_session});
    for (const RegionPlace& place : directory->places) {
      if (place.region.value == request.region()) *reply.mutable_shards() = to_pb(place.shards);
    }
  }

  void write(const pb::WriteRequest& request, pb::Message& answer) {
    ++writes;
    std::pair<uint64_t, uint64_t> session{request.session().region(), request.session().offset()};
    if (!sessions.contains(session)) {
      answer.mutable_refusal()->set_code(pb::SESSION_EXPIRED);
      return;
    }
    Operation operation;
    for (OperationReader reader(request.operations()); reader.next(operation);) {
      uint32_t shard = kShards.shard_of(operation.hash).value;
      if (entries.insert({session, request.number(), shard, std::string(operation.key)}).second) {
        rows[{operation.hash, std::string(operation.key)}].push_back(std::string(operation.row));
      }
      answer.mutable_written()->add_rows_affected(1);
    }
    pb::LaneRun& reached = *answer.mutable_written()->mutable_reached();
    *reached.mutable_lanes() = to_pb(directory->places[request.region() - 1].shards);
    *reached.mutable_position() = to_pb(ends[request.region()]);
    if (expire_after_write) sessions.clear();
  }

  void get(const pb::GetRequest& request, pb::RowsReply& reply) {
    seen.push_back(from_pb(request.seen()));
    for (int i = 0; i < request.keys_size(); ++i) {
      if (i == get_keys_max) {
        reply.set_keys_left(static_cast<uint32_t>(request.keys_size() - i));
        return;
      }
      auto it = rows.find({request.hashes(i), request.keys(i)});
      if (it != rows.end())
        append_row(*reply.mutable_rows(), {it->first.first, it->first.second, it->second.back()});
    }
  }

  void scan(const pb::ScanRequest& request, pb::RowsReply& reply) {
    seen.push_back(from_pb(request.seen()));
    ByteReader cursor(request.cursor());
    std::pair<uint64_t, std::string> after{cursor.ordered64(), std::string(cursor.left())};
    const RegionPlace& place = directory->places[request.region() - 1];
    for (const auto& [key, values] : rows) {
      if (!place.shards.contains(kShards.shard_of(key.first))) continue;
      if (!request.cursor().empty() && key <= after) continue;
      if (reply.count() == request.rows_max()) {
        put_ordered64(*reply.mutable_cursor(), last.first);
        reply.mutable_cursor()->append(last.second);
        return;
      }
      append_row(*reply.mutable_rows(), {key.first, key.second, values.back()});
      reply.set_count(reply.count() + 1);
      last = key;
    }
  }

  std::unique_ptr<Transport> transport;
  const FixedDirectory* directory = nullptr;
  std::set<std::pair<uint64_t, uint64_t>> sessions;
  std::set<std::tuple<std::pair<uint64_t, uint64_t>, uint64_t, uint32_t, std::string>> entries;
  std::map<std::pair<uint64_t, std::string>, std::vector<std::string>> rows;
  std::map<uint64_t, Position> ends;  // Of the regions' logs, as answers to waits tell.
  std::vector<Position> seen;         // By those who read.
  size_t waits = 0;
  size_t late_wait = 0;          // It is answered when it is asked again.
  bool late_get = false;         // The same of the next get.
  int get_keys_max = 1'000'000;  // So many keys of a get are answered.
  std::optional<pb::Message> late;
  std::pair<uint64_t, std::string> last;
  uint64_t last_session = 0;
  int refuse_next = 0;
  pb::RefusalCode refuse_with = pb::NOT_OWNER;
  std::function<void()> on_refused;
  size_t writes = 0;
  bool expire_after_write = false;
};

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    regions.directory = &directory;
    set_regions({{0, 8}, {8, 16}});
    options.shards = kShards;
    client = std::make_unique<Client>(process, *transport, directory, random, options);
  }

  void set_regions(const std::vector<std::pair<uint32_t, uint32_t>>& ranges) {
    directory.places.clear();
    for (auto [begin, end] : ranges) {
      directory.places.push_back({RegionId{directory.places.size() + 1},
                                  {ShardId{begin}, ShardId{end}},
                                  NodeId{"n"},
                                  Address{"server"}});
    }
  }

  static uint64_t hash_in(uint32_t shard) { return kShards.first_hash(ShardId{shard}) + 12345; }

  static void add_put(WriteBatch& batch, uint32_t shard, std::string_view key, std::string_view row) {
    Operation put;
    put.table = TableId{1};
    put.hash = hash_in(shard);
    put.key = key;
    put.row = row;
    batch.add(put);
  }

  Result<WriteOutcome, ClientFailure> write(WriteBatch batch, Atomicity atomicity = Atomicity::PerRegion) {
    std::optional<Result<WriteOutcome, ClientFailure>> result;
    client->write(std::move(batch), CatalogVersion{1}, atomicity,
                  [&](Result<WriteOutcome, ClientFailure> got) { result = std::move(got); });
    EXPECT_TRUE(world.run_while_not([&] { return result.has_value(); }));
    return std::move(*result);
  }

  VirtualScheduler world;
  ProcessScheduler process{world};
  Random random{7};
  SimNetwork network{world, Random(11)};
  FixedDirectory directory;
  NaiveRegions regions{network, process};
  std::unique_ptr<Transport> transport = network.connect(Address{"client"}, process);
  ClientOptions options;
  std::unique_ptr<Client> client;
};

TEST_F(ClientTest, WritesToEachRegionAndTellsRowsAffected) {
  WriteBatch batch;
  for (uint32_t shard = 0; shard < 16; ++shard) add_put(batch, shard, "k", "v" + std::to_string(shard));
  auto outcome = write(std::move(batch));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->rows_affected, std::vector<uint32_t>(16, 1));
  EXPECT_EQ(regions.rows.size(), 16u);
  EXPECT_EQ(regions.sessions.size(), 2u);  // One per region.
}

TEST_F(ClientTest, AWholeWriteOverSeveralRegionsIsRefusedBeforeItIsSent) {
  WriteBatch batch;
  add_put(batch, 1, "a", "1");
  add_put(batch, 9, "b", "2");
  auto outcome = write(std::move(batch), Atomicity::Whole);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::NotOneRegion);
  EXPECT_TRUE(regions.rows.empty());
}

TEST_F(ClientTest, RedirectsAreFollowedAfterLookingAgain) {
  regions.refuse_next = 5;
  WriteBatch batch;
  add_put(batch, 1, "a", "1");
  EXPECT_TRUE(write(std::move(batch)).ok());
  EXPECT_GE(directory.looks, 5);
}

TEST_F(ClientTest, LossesAreRetriedUnderTheSameNumberAndNothingIsDoneTwice) {
  SimNetworkFaults faults;
  faults.loss = 0.3;
  network.set_faults(faults);
  for (int i = 0; i < 200; ++i) {
    WriteBatch batch;
    add_put(batch, static_cast<uint32_t>(i % 16), "k", std::to_string(i));
    ASSERT_TRUE(write(std::move(batch)).ok());
    if (i == 100) set_regions({{0, 4}, {4, 8}, {8, 16}});  // Sessions stay known per shard.
  }
  EXPECT_GT(network.counters().lost, 50u);
  size_t done = 0;
  for (const auto& [key, values] : regions.rows) {
    EXPECT_EQ(std::set<std::string>(values.begin(), values.end()).size(), values.size());
    done += values.size();
  }
  EXPECT_EQ(done, 200u);
}

TEST_F(ClientTest, AnExpiredSessionIsReplacedIfNothingCanHaveBeenDone) {
  WriteBatch first, second;
  add_put(first, 1, "a", "1");
  ASSERT_TRUE(write(std::move(first)).ok());
  regions.sessions.clear();
  add_put(second, 1, "a", "2");
  EXPECT_TRUE(write(std::move(second)).ok());
  EXPECT_EQ(regions.rows.begin()->second, (std::vector<std::string>{"1", "2"}));
}

TEST_F(ClientTest, AnExpiredSessionAfterALostAnswerIsAnUnknownOutcome) {
  WriteBatch warm;
  add_put(warm, 1, "a", "0");
  ASSERT_TRUE(write(std::move(warm)).ok());
  regions.expire_after_write = true;
  network.cut(Address{"server"}, Address{"client"});
  process.post_after(Micros{1'200'000}, [&] { network.heal_all(); });
  WriteBatch batch;
  add_put(batch, 1, "a", "1");
  auto outcome = write(std::move(batch));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::OutcomeUnknown);
}

TEST_F(ClientTest, ARefusalWhileAnotherAttemptMayBeDoneIsAnUnknownOutcome) {
  WriteBatch warm, batch;
  add_put(warm, 1, "a", "0");
  ASSERT_TRUE(write(std::move(warm)).ok());
  network.cut(Address{"server"}, Address{"client"});
  process.post_after(Micros{1'200'000}, [&] {
    network.heal_all();
    regions.refuse_next = 1;
    regions.refuse_with = pb::STALE_CATALOG;
  });
  add_put(batch, 1, "a", "1");
  auto outcome = write(std::move(batch));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::OutcomeUnknown);
  EXPECT_EQ(regions.rows.begin()->second, (std::vector<std::string>{"0", "1"}));
}

TEST_F(ClientTest, ARefusalAfterAttemptsThatCameBackUndoneIsCertain) {
  WriteBatch warm, batch;
  add_put(warm, 1, "a", "0");
  ASSERT_TRUE(write(std::move(warm)).ok());
  regions.refuse_next = 2;
  regions.refuse_with = pb::CATALOG_BEHIND;
  regions.on_refused = [&] { regions.refuse_with = pb::STALE_CATALOG; };
  add_put(batch, 1, "a", "1");
  auto outcome = write(std::move(batch));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::StaleCatalog);
  EXPECT_EQ(regions.rows.begin()->second, (std::vector<std::string>{"0"}));
}

TEST_F(ClientTest, AWholeWriteIsNotCutInTwoWhenItsRegionIsSplit) {
  WriteBatch warm, refused, lost;
  add_put(warm, 1, "a", "0");
  ASSERT_TRUE(write(std::move(warm)).ok());
  regions.refuse_next = 1;
  regions.on_refused = [&] { set_regions({{0, 4}, {4, 8}, {8, 16}}); };
  for (uint32_t shard : {1u, 5u}) add_put(refused, shard, "b", "1");
  auto outcome = write(std::move(refused), Atomicity::Whole);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::NotOneRegion);
  EXPECT_EQ(regions.rows.size(), 1u);

  set_regions({{0, 8}, {8, 16}});
  network.cut(Address{"server"}, Address{"client"});
  process.post_after(Micros{1'200'000}, [&] {
    network.heal_all();
    set_regions({{0, 4}, {4, 8}, {8, 16}});
  });
  for (uint32_t shard : {1u, 5u}) add_put(lost, shard, "c", "1");
  outcome = write(std::move(lost), Atomicity::Whole);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::OutcomeUnknown);
}

// A session that another write asked for makes all writes look again, also one whose answer is under way.
TEST_F(ClientTest, AWholeWriteOnItsWayIsLeftAloneWhenItsRegionIsSplit) {
  WriteBatch warm, whole, other;
  add_put(warm, 1, "a", "0");
  ASSERT_TRUE(write(std::move(warm)).ok());
  network.cut(Address{"server"}, Address{"client"});
  for (uint32_t shard : {1u, 5u}) add_put(whole, shard, "b", "1");
  std::optional<Result<WriteOutcome, ClientFailure>> outcome;
  client->write(std::move(whole), CatalogVersion{1}, Atomicity::Whole,
                [&](Result<WriteOutcome, ClientFailure> got) { outcome = std::move(got); });
  ASSERT_TRUE(world.run_while_not([&] { return regions.writes == 2; }));
  network.heal_all();
  set_regions({{0, 4}, {4, 8}, {8, 16}});
  add_put(other, 9, "c", "1");
  EXPECT_TRUE(write(std::move(other)).ok());
  ASSERT_TRUE(world.run_while_not([&] { return outcome.has_value(); }));
  ASSERT_FALSE(outcome->ok());
  EXPECT_EQ(outcome->error().code, ClientError::OutcomeUnknown);
  // Nothing of it is left that would be sent again.
  bool over = false;
  process.post_after(options.deadline, [&] { over = true; });
  EXPECT_TRUE(world.run_while_not([&] { return over; }));
  EXPECT_EQ(regions.writes, 3u);
}

TEST_F(ClientTest, AWholeWriteOverMergedRegionsIsOneRequest) {
  WriteBatch warm, batch;
  for (uint32_t shard : {1u, 9u}) add_put(warm, shard, "a", "0");
  ASSERT_TRUE(write(std::move(warm)).ok());
  set_regions({{0, 16}});
  const size_t before = regions.writes;
  for (uint32_t shard : {1u, 9u}) add_put(batch, shard, "b", "1");
  EXPECT_TRUE(write(std::move(batch), Atomicity::Whole).ok());
  EXPECT_EQ(regions.writes, before + 1);
}

TEST_F(ClientTest, DeadlinesTellWhetherItWasEverSent) {
  for (RegionPlace& place : directory.places) place.address = Address{};
  WriteBatch never_sent;
  add_put(never_sent, 1, "a", "1");
  auto outcome = write(std::move(never_sent));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::TimedOut);

  set_regions({{0, 8}, {8, 16}});
  WriteBatch warm, lost;
  add_put(warm, 1, "a", "1");
  ASSERT_TRUE(write(std::move(warm)).ok());
  network.cut(Address{"server"}, Address{"client"});
  add_put(lost, 1, "a", "2");
  outcome = write(std::move(lost));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ClientError::OutcomeUnknown);
}

TEST_F(ClientTest, AScanGoesThroughAllRegionsInOrderPageByPage) {
  WriteBatch batch;
  for (uint32_t shard = 0; shard < 16; ++shard) {
    for (char c = 'a'; c < 'f'; ++c) add_put(batch, shard, std::string(1, c), "v");
  }
  ASSERT_TRUE(write(std::move(batch)).ok());
  std::vector<std::pair<uint64_t, std::string>> seen;
  ScanSpec spec;
  spec.table = TableId{1};
  spec.rows_max = 7;
  std::optional<ScanPosition> at = ScanPosition{};
  while (at) {
    std::optional<RowPage> page;
    client->scan(spec, *at, [&](Result<RowPage, ClientFailure> got) { page = std::move(got).value(); });
    ASSERT_TRUE(world.run_while_not([&] { return page.has_value(); }));
    StoredRow row;
    for (RowReader reader(page->rows); reader.next(row);) seen.emplace_back(row.hash, std::string(row.key));
    at = page->next;
  }
  ASSERT_EQ(seen.size(), 80u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_F(ClientTest, ReadsNameHowFarTheirRegionWasSeenByWaits) {
  const Position low{Generation{1}, Offset{7}, 0}, high{Generation{0}, Offset{9}, 0};
  regions.ends = {{1, low}, {2, high}};
  auto read_all = [&] {
    int answers = 0;
    regions.seen.clear();
    client->get(TableId{1}, {{hash_in(9), "b"}, {hash_in(1), "a"}}, [&](const auto&) { ++answers; });
    EXPECT_TRUE(world.run_while_not([&] { return answers == 1; }));
    client->scan({TableId{1}, {}, "", false, 10}, {hash_in(9), {}}, [&](const auto&) { ++answers; });
    EXPECT_TRUE(world.run_while_not([&] { return answers == 2; }));
    return regions.seen;
  };
  EXPECT_EQ(read_all(), std::vector<Position>(3));
  bool waited = false;
  client->wait({TableId{1}}, {}, std::nullopt, [&](const auto& result) { waited = result.ok(); });
  ASSERT_TRUE(world.run_while_not([&] { return waited; }));
  EXPECT_EQ(read_all(), (std::vector<Position>{low, high, high}));
  set_regions({{0, 16}});  // Merged: it must have read past both.
  EXPECT_EQ(read_all(), (std::vector<Position>{low, low}));
}

TEST_F(ClientTest, ReadsNameHowFarTheirRegionWasSeenByTheClientsOwnWrites) {
  const Position written{Generation{1}, Offset{7}, 0};
  regions.ends = {{1, written}};
  WriteBatch batch;
  add_put(batch, 1, "a", "1");
  ASSERT_TRUE(write(std::move(batch)).ok());
  bool read = false;
  client->get(TableId{1}, {{hash_in(9), "b"}, {hash_in(2), "c"}}, [&](const auto&) { read = true; });
  ASSERT_TRUE(world.run_while_not([&] { return read; }));
  EXPECT_EQ(regions.seen, (std::vector<Position>{written, {}}));
}

TEST_F(ClientTest, ALateAnswerToAWaitCountsForTheShardsOfTheRegionThatGaveIt) {
  regions.late_wait = 1;
  bool waited = false;
  client->wait({TableId{1}}, {}, std::nullopt, [&](const auto& result) { waited = result.ok(); });
  ASSERT_TRUE(world.run_while_not([&] { return regions.late.has_value(); }));
  set_regions({{0, 16}});  // Asked again, it is of all shards; the answer is of the first half.
  ASSERT_TRUE(world.run_while_not([&] { return waited; }));
  EXPECT_EQ(regions.waits, 3u);
}

TEST_F(ClientTest, ALateAnswerOfOneRegionIsNotTakenForThatOfTheMergedOne) {
  WriteBatch batch;
  add_put(batch, 1, "a", "1");
  add_put(batch, 9, "b", "2");
  ASSERT_TRUE(write(std::move(batch)).ok());
  regions.late_get = true;
  std::optional<std::string> rows;
  client->get(TableId{1}, {{hash_in(1), "a"}, {hash_in(9), "b"}},
              [&](Result<std::string, ClientFailure> got) { rows = std::move(got).value(); });
  ASSERT_TRUE(world.run_while_not([&] { return regions.late.has_value(); }));
  set_regions({{0, 16}});
  directory.places.front().region = RegionId{3};
  ASSERT_TRUE(world.run_while_not([&] { return rows.has_value(); }));
  size_t count = 0;
  StoredRow row;
  for (RowReader reader(*rows); reader.next(row);) ++count;
  EXPECT_EQ(count, 2u);
}

TEST_F(ClientTest, AGetGathersKeysOfSeveralRegions) {
  WriteBatch batch;
  add_put(batch, 1, "a", "1");
  add_put(batch, 9, "b", "2");
  ASSERT_TRUE(write(std::move(batch)).ok());
  std::optional<std::string> rows;
  client->get(TableId{1}, {{hash_in(1), "a"}, {hash_in(9), "b"}, {hash_in(3), "absent"}},
              [&](Result<std::string, ClientFailure> got) { rows = std::move(got).value(); });
  ASSERT_TRUE(world.run_while_not([&] { return rows.has_value(); }));
  std::set<std::string> values;
  StoredRow row;
  for (RowReader reader(*rows); reader.next(row);) values.insert(std::string(row.row));
  EXPECT_EQ(values, (std::set<std::string>{"1", "2"}));
}

TEST_F(ClientTest, AGetAsksAgainForTheKeysThatWereNotAnswered) {
  std::vector<KeyOfTable> keys;
  WriteBatch batch;
  for (uint32_t shard = 0; shard < 16; ++shard) {
    const std::string key = "k" + std::to_string(shard);
    add_put(batch, shard, key, key);
    keys.push_back({hash_in(shard), key});
    keys.push_back({hash_in(shard), "absent"});
  }
  keys.push_back(keys.front());  // A key asked for twice is answered twice.
  ASSERT_TRUE(write(std::move(batch)).ok());
  for (int keys_max : {1, 3, 7}) {
    regions.get_keys_max = keys_max;
    std::optional<Result<std::string, ClientFailure>> got;
    client->get(TableId{1}, keys, [&](Result<std::string, ClientFailure> rows) { got = std::move(rows); });
    ASSERT_TRUE(world.run_while_not([&] { return got.has_value(); }));
    ASSERT_TRUE(got->ok());
    std::multiset<std::string> found;
    StoredRow row;
    for (RowReader reader(**got); reader.next(row);) found.insert(std::string(row.row));
    EXPECT_EQ(found.size(), 17u);
    EXPECT_EQ(found.count("k0"), 2u);
    EXPECT_EQ(found.count("k15"), 1u);
  }
  regions.get_keys_max = 0;  // Who answers none is not asked for ever.
  std::optional<bool> ok;
  client->get(TableId{1}, keys, [&](Result<std::string, ClientFailure> rows) { ok = rows.ok(); });
  ASSERT_TRUE(world.run_while_not([&] { return ok.has_value(); }));
  EXPECT_FALSE(*ok);
}

TEST_F(ClientTest, AGetOfLongKeysIsAskedInPieces) {
  std::vector<KeyOfTable> keys;
  for (int i = 0; i < 100; ++i) keys.push_back({hash_in(1), std::string(100'000, 'x') + std::to_string(i)});
  std::optional<bool> ok;
  client->get(TableId{1}, keys, [&](Result<std::string, ClientFailure> rows) { ok = rows.ok(); });
  ASSERT_TRUE(world.run_while_not([&] { return ok.has_value(); }));
  EXPECT_TRUE(*ok);
  EXPECT_GE(regions.seen.size(), 9u);
}

}  // namespace
}  // namespace tidemark
