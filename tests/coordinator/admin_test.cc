// What operators ask, and what they are told.
#include "coordinator/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/admin_command.h"
#include "tests/coordinator/fake_cluster.h"

namespace tidemark {

namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

class Admin : public testing::Test {
 protected:
  Admin() { cluster.start({"n1", "n2", "n3"}, {"v1", "v2"}); }

  std::string bytes() const {
    ClusterFacts f = cluster.facts();
    return f.map.SerializeAsString() + f.ring.SerializeAsString() + f.wishes.SerializeAsString() +
           f.operations.SerializeAsString() + f.staged.SerializeAsString() + f.catalog.SerializeAsString();
  }
  FakeCluster cluster;
};

TEST_F(Admin, WrongInputIsRefusedWithAReasonAndChangesNothing) {
  struct Case {
    Words words;
    int exit_code;
    const char* reason;
  };
  const Case cases[] = {
      {{"frobnicate"}, 2, "there is no command \"frobnicate\""},
      {{"add-vm"}, 2, "usage: add-vm NAME"},
      {{"add-vm", "../x"}, 2, "is not a name"},
      {{"add-vm", "v9", "0"}, 2, "a weight is a number"},
      {{"remove-vm", "v9"}, 1, "there is no view manager v9"},
      {{"recover-vm", "v1"}, 1, "v1 is alive"},
      {{"recover-vm", "v9"}, 1, "there is no view manager v9"},
      {{"remove-node", "n9"}, 1, "there is no node n9"},
      {{"move-region", "1", "n9"}, 1, "there is no node n9"},
      {{"move-region", "9", "n1"}, 1, "there is no region 9"},
      {{"move-region", "one", "n1"}, 2, "usage: move-region"},
      {{"split-region", "9"}, 1, "there is no region 9"},
      {{"split-region", "1", "40"}, 1, "shard 40 does not divide region 1"},
      {{"merge-regions", "1", "1"}, 1, "can not be merged with itself"},
      {{"merge-regions", "1", "3"}, 1, "are not neighbours"},
      {{"cancel", "77"}, 1, "operation 77 is not running"},
      {{"cancel", "77x"}, 2, "usage: cancel [OPERATION]"},
      {{"stage", "split-region", "9"}, 1, "there is no region 9"},
      {{"backfill", "v"}, 2, "usage: backfill VIEW"},
      {{"backfill", "v", "slowly"}, 2, "usage: backfill VIEW"},
      {{"backfill", "v", "-1"}, 2, "usage: backfill VIEW"},
      {{"backfill", "v", "10x"}, 2, "usage: backfill VIEW"},
      {{"backfill", "v", "1000000001"}, 2, "usage: backfill VIEW"},
      {{"backfill", "v", "pause"}, 1, "there is no view \"v\""},
      {{"status", "please"}, 2, "there is no command"},
      {{"recover-node", "n1"}, 2, "there is no command"},
  };
  std::string before = bytes();
  for (const Case& one : cases) {
    pb::AdminReply reply = cluster.ask(one.words);
    EXPECT_EQ(reply.exit_code(), one.exit_code) << one.words[0];
    EXPECT_THAT(reply.out(), HasSubstr(one.reason));
    EXPECT_FALSE(reply.more());
  }
  EXPECT_EQ(bytes(), before);
}

TEST_F(Admin, TheLastOfEachKindStays) {
  EXPECT_EQ(cluster.ask_and_wait({"remove-vm", "v2"}).exit_code(), 0);
  EXPECT_THAT(cluster.ask({"remove-vm", "v1"}).out(), HasSubstr("v1 is the last view manager"));
  EXPECT_EQ(cluster.ask_and_wait({"remove-node", "n2"}).exit_code(), 0);
  EXPECT_EQ(cluster.ask_and_wait({"remove-node", "n3"}).exit_code(), 0);
  EXPECT_THAT(cluster.ask({"remove-node", "n1"}).out(), HasSubstr("n1 is the last node"));
}

TEST_F(Admin, ARegionOfOneShardCanNotBeSplit) {
  for (int shards = 16; shards > 1; shards /= 2) {
    ClusterFacts facts = cluster.facts();
    uint64_t first = 0;
    for (const auto& entry : facts.map.regions())
      if (!entry.sealed() && entry.shards().begin() == 0) first = entry.region();
    EXPECT_EQ(cluster.ask_and_wait({"split-region", std::to_string(first)}).exit_code(), 0);
    cluster.run_until_quiet();
  }
  ClusterFacts facts = cluster.facts();
  for (const auto& entry : facts.map.regions()) {
    if (entry.shards().begin() != 0) continue;
    EXPECT_THAT(cluster.ask({"split-region", std::to_string(entry.region())}).out(),
                HasSubstr("has one shard and can not be split"));
  }
}

TEST_F(Admin, ANodeThatHoldsTheOnlyReplicaIsNotForgotten) {
  FakeCluster lonely([] {
    CoordinatorSettings settings = FakeCluster::default_settings();
    settings.replicas = 1;
    return settings;
  }());
  lonely.start({"n1", "n2", "n3"}, {"v1", "v2"});
  lonely.kill("n2");
  lonely.run_for(Micros{3'000'000});
  EXPECT_THAT(lonely.ask({"remove-node", "n2"}).out(), HasSubstr("holds the only replica of region 2"));
}

TEST_F(Admin, AskedTwiceACommandIsDoneOnce) {
  pb::AdminReply first = cluster.ask({"add-vm", "v3"});  // Not started yet: it is waited for.
  pb::AdminReply second = cluster.ask({"add-vm", "v3"});
  EXPECT_TRUE(first.more());
  EXPECT_EQ(first.operation(), second.operation());
  EXPECT_THAT(second.out(), HasSubstr("waits for v3 to register"));
  cluster.add_view_manager("v3");
  ASSERT_TRUE(cluster.run_until_quiet());
  EXPECT_EQ(cluster.facts().ring.ring().version(), 2u);
  EXPECT_THAT(cluster.ask({"add-vm", "v3"}).out(), HasSubstr("v3 is a view manager already"));
  EXPECT_EQ(cluster.ask_and_wait({"remove-vm", "v3"}).exit_code(), 0);
  EXPECT_THAT(cluster.ask({"remove-vm", "v3"}).out(), HasSubstr("has left already"));
  EXPECT_EQ(cluster.facts().ring.ring().version(), 3u);
  EXPECT_THAT(cluster.ask({"move-region", "1", "n1"}).out(), HasSubstr("is on n1 already"));
}

TEST_F(Admin, StagedChangesArePlannedAndCommittedTogether) {
  EXPECT_THAT(cluster.ask({"plan"}).out(), HasSubstr("nothing is staged"));
  EXPECT_THAT(cluster.ask({"stage", "add-vm", "v3"}).out(), HasSubstr("staged add-vm v3"));
  EXPECT_THAT(cluster.ask({"stage", "add-vm", "v3"}).out(), HasSubstr("is staged already"));
  EXPECT_EQ(cluster.ask({"stage", "move-region", "1", "n2"}).exit_code(), 0);
  std::string plan = cluster.ask({"plan"}).out();
  EXPECT_THAT(plan, HasSubstr("of 64 shards would move"));
  EXPECT_THAT(plan, HasSubstr("-> v3"));
  EXPECT_THAT(plan, HasSubstr("region 1: n1 -> n2"));
  EXPECT_EQ(cluster.facts().ring.ring().version(), 1u);
  EXPECT_THAT(cluster.ask({"plan"}, true).out(), HasSubstr("\"shards_moving\":"));

  EXPECT_THAT(cluster.ask({"commit"}).out(), HasSubstr("begun: "));
  cluster.add_view_manager("v3");
  ASSERT_TRUE(cluster.run_until_quiet());
  EXPECT_EQ(cluster.facts().ring.ring().members_size(), 3);
  EXPECT_EQ(cluster.facts().map.regions(0).owner(), "n2");
  EXPECT_THAT(cluster.ask({"commit"}).out(), HasSubstr("nothing is staged"));
  EXPECT_THAT(cluster.ask({"history"}).out(), HasSubstr("move-region 1 n2"));
}

TEST_F(Admin, CommitBeginsAllOrNothing) {
  EXPECT_EQ(cluster.ask({"stage", "remove-vm", "v1"}).exit_code(), 0);
  EXPECT_EQ(cluster.ask({"stage", "remove-vm", "v2"}).exit_code(), 0);
  pb::AdminReply reply = cluster.ask({"commit"});
  EXPECT_EQ(reply.exit_code(), 1);
  EXPECT_THAT(reply.out(), HasSubstr("v2 is the last view manager; nothing was begun"));
  EXPECT_EQ(cluster.facts().operations.running_size(), 0);
  EXPECT_EQ(cluster.ask({"cancel"}).exit_code(), 0);
  EXPECT_EQ(cluster.facts().staged.operations_size(), 0);
}

TEST_F(Admin, AMoveThatWaitsCanBeCalledOff) {
  cluster.nodes.at("n3")->pause();  // Its session lives, and it makes no checkpoint.
  pb::AdminReply reply = cluster.ask({"move-region", "1", "n3"});
  ASSERT_TRUE(reply.more());
  EXPECT_THAT(cluster.ask({"split-region", "1"}).out(), HasSubstr("region 1 is busy with operation"));
  EXPECT_EQ(cluster.ask({"cancel", std::to_string(reply.operation())}).exit_code(), 0);
  cluster.nodes.at("n3")->resume();
  ASSERT_TRUE(cluster.run_until_quiet());
  EXPECT_EQ(cluster.facts().map.regions(0).owner(), "n1");
  EXPECT_THAT(cluster.ask({"history"}).out(), HasSubstr("CANCELLED"));
}

TEST_F(Admin, RecoverSpreadsTheShardsWithoutWaiting) {
  CoordinatorSettings patient = FakeCluster::default_settings();
  patient.spread_after = Micros{3'600'000'000};
  FakeCluster slow(patient);
  slow.start({"n1", "n2", "n3"}, {"v1", "v2"});
  slow.kill("v2");
  slow.run_for(Micros{10'000'000});
  EXPECT_EQ(slow.facts().ring.ring().version(), 1u);
  EXPECT_EQ(slow.ask_and_wait({"recover-vm", "v2"}).exit_code(), 0);
  EXPECT_EQ(slow.facts().ring.ring().members_size(), 1);
}

TEST_F(Admin, RecoveringOneWhoseShardsWereSpreadAlreadyComesToItsEnd) {
  cluster.kill("v2");
  ASSERT_TRUE(cluster.run_until([&] { return cluster.facts().ring.ring().version() == 2; }));
  ASSERT_TRUE(cluster.run_until_quiet());
  pb::AdminReply reply = cluster.ask_and_wait({"recover-vm", "v2"});
  EXPECT_FALSE(reply.more()) << reply.out();
  EXPECT_THAT(reply.out(), HasSubstr("its shards were spread"));
}

TEST_F(Admin, CallingOffAChangeOfWeightRemovesNobody) {
  ASSERT_EQ(cluster.ask_and_wait({"remove-vm", "v2"}).exit_code(), 0);
  cluster.nodes.at("n3")->pause();  // Its regions do not acknowledge the ring.
  pb::AdminReply reply = cluster.ask({"add-vm", "v1", "3"});
  ASSERT_TRUE(reply.more());
  pb::AdminReply cancelled = cluster.ask({"cancel", std::to_string(reply.operation())});
  EXPECT_EQ(cancelled.exit_code(), 1);
  EXPECT_THAT(cancelled.out(), HasSubstr("v1 is in the ring already"));
  cluster.nodes.at("n3")->resume();
  ASSERT_TRUE(cluster.run_until_quiet());
  const ClusterFacts facts = cluster.facts();
  for (const auto& wish : facts.wishes.view_managers())
    EXPECT_EQ(wish.leaving(), wish.name() == "v2") << wish.name();
  EXPECT_EQ(facts.ring.ring().members(0), "v1");
}

TEST_F(Admin, StagedAnewACommandTakesThePlaceOfTheOneBefore) {
  EXPECT_EQ(cluster.ask({"stage", "add-vm", "v3", "2"}).exit_code(), 0);
  EXPECT_THAT(cluster.ask({"stage", "add-vm", "v3", "2"}).out(), HasSubstr("is staged already"));
  EXPECT_THAT(cluster.ask({"stage", "add-vm", "v3", "5"}).out(), HasSubstr("staged add-vm v3 anew"));
  ClusterFacts facts = cluster.facts();
  ASSERT_EQ(facts.staged.operations_size(), 1);
  EXPECT_EQ(facts.staged.operations(0).weight(), 5u);
}

TEST_F(Admin, StatusShowsTheClusterAtAGlance) {
  cluster.kill("v2");
  cluster.run_for(Micros{3'000'000});
  std::string text = cluster.ask({"status"}).out();
  EXPECT_THAT(text, HasSubstr("64 shards, 4 regions, ring 2"));
  EXPECT_THAT(text, HasSubstr("v2              gone"));
  EXPECT_THAT(text, HasSubstr("served"));
  std::string json = cluster.ask({"status"}, true).out();
  EXPECT_THAT(json, HasSubstr("\"coordinator\":\"c1\""));
  EXPECT_THAT(json, HasSubstr("\"ring_version\":2"));
  EXPECT_THAT(json, HasSubstr("{\"name\":\"v2\",\"alive\":false"));
}

TEST_F(Admin, TheCatalogChangesOnlyFromTheVersionThatWasSeen) {
  pb::CatalogRequest request;
  auto* table = request.add_create();
  table->set_id(1);
  table->set_name("t");
  table->set_kind(pb::MANAGED);
  EXPECT_TRUE(cluster.change_catalog(request).ok());
  pb::CatalogReply again = cluster.change_catalog(request);
  EXPECT_FALSE(again.ok());
  EXPECT_THAT(again.message(), HasSubstr("at version 1 by now"));
  request.set_expects_version(1);
  EXPECT_THAT(cluster.change_catalog(request).message(), HasSubstr("was used before"));
  table->set_id(2);
  EXPECT_THAT(cluster.change_catalog(request).message(), HasSubstr("there is a table \"t\" already"));
  table->set_name("v");
  table->set_kind(pb::VIEW);
  table->add_sources(9);
  EXPECT_THAT(cluster.change_catalog(request).message(), HasSubstr("needs table 9"));
  table->set_sources(0, 1);
  EXPECT_EQ(cluster.change_catalog(request).version(), 2u);
  ASSERT_TRUE(cluster.run_until_quiet());
  pb::Catalog catalog = cluster.facts().catalog;
  EXPECT_EQ(catalog.tables(0).begun(), 1u);  // A table begins at once,
  EXPECT_EQ(catalog.tables(1).begun(), 3u);  // a view when every region knows it.
  pb::CatalogRequest drop;
  drop.set_expects_version(3);
  drop.add_drop(1);
  EXPECT_THAT(cluster.change_catalog(drop).message(), HasSubstr("\"v\" needs table 1"));
  drop.add_drop(2);
  EXPECT_TRUE(cluster.change_catalog(drop).ok());
}

TEST_F(Admin, ADefinitionThatFitsNoRecordIsRefused) {
  auto create = [&](uint32_t id, size_t bytes) {
    pb::CatalogRequest request;
    request.set_expects_version(id - 1);
    auto* table = request.add_create();
    table->set_id(id);
    table->set_name("t" + std::to_string(id));
    table->set_kind(pb::MANAGED);
    table->set_sql("create table t (id int primary key) -- " + std::string(bytes, 'x'));
    return cluster.change_catalog(request);
  };
  pb::CatalogReply refused = create(1, 500'000);
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.message(), HasSubstr("write a shorter statement"));
  EXPECT_EQ(cluster.facts().catalog.version(), 0u);
  // Those that fit one by one are dropped together.
  for (uint32_t id = 1; id <= 3; ++id) ASSERT_TRUE(create(id, 400'000).ok());
  pb::CatalogRequest drop;
  drop.set_expects_version(3);
  for (uint32_t id = 1; id <= 3; ++id) drop.add_drop(id);
  EXPECT_TRUE(cluster.change_catalog(drop).ok());
}

TEST_F(Admin, ABackfillIsPausedSlowedAndResumed) {
  pb::CatalogRequest request;
  auto* table = request.add_create();
  table->set_id(1);
  table->set_name("t");
  table->set_kind(pb::MANAGED);
  auto* view = request.add_create();
  view->set_id(2);
  view->set_name("v");
  view->set_kind(pb::VIEW);
  view->add_sources(1);
  ASSERT_TRUE(cluster.change_catalog(request).ok());
  auto definition = [&](int index = 1) { return cluster.facts().catalog.tables(index); };

  EXPECT_THAT(cluster.ask({"backfill", "v", "pause"}).out(), HasSubstr("the backfill of \"v\" is paused"));
  EXPECT_TRUE(definition().has_backfill_rows_per_second());
  EXPECT_EQ(definition().backfill_rows_per_second(), 0u);
  EXPECT_EQ(definition().paced(), cluster.facts().catalog.version());
  EXPECT_THAT(cluster.ask({"backfill", "v", "500"}).out(), HasSubstr("brings at most 500 rows/s"));
  EXPECT_EQ(definition().backfill_rows_per_second(), 500u);
  std::string before = bytes();
  EXPECT_EQ(cluster.ask({"backfill", "v", "500"}).exit_code(), 0);
  EXPECT_EQ(bytes(), before) << "it was so already";
  EXPECT_THAT(cluster.ask({"backfill", "v", "resume"}).out(), HasSubstr("goes as fast as it can"));
  EXPECT_FALSE(definition().has_backfill_rows_per_second());
  EXPECT_EQ(cluster.ask({"backfill", "t", "pause"}).exit_code(), 1) << "a table is not filled";

  // Once it is filled there is nothing to pace; of two with its name, the other is meant.
  ASSERT_TRUE(cluster.run_until([&] { return definition().filled() != 0; }));
  ASSERT_TRUE(cluster.run_until_quiet());
  EXPECT_THAT(cluster.ask({"backfill", "v", "pause"}).out(), HasSubstr("\"v\" is filled already"));
  pb::CatalogRequest replace;
  replace.set_expects_version(cluster.facts().catalog.version());
  *replace.add_create() = *view;
  replace.mutable_create(0)->set_id(3);
  replace.mutable_create(0)->set_replaces(2);
  ASSERT_TRUE(cluster.change_catalog(replace).ok());
  EXPECT_THAT(cluster.ask({"backfill", "v", "pause"}).out(), HasSubstr("is paused"));
  EXPECT_TRUE(definition(2).has_backfill_rows_per_second());
  EXPECT_FALSE(definition(1).has_backfill_rows_per_second());
}

// ---- the command line, over a channel that is a cluster

class ClusterChannel final : public AdminChannel {
 public:
  explicit ClusterChannel(FakeCluster& cluster) : cluster_(cluster) {}
  Result<pb::AdminReply> ask(const pb::AdminRequest& request) override {
    if (silent > 0) {
      --silent;
      return Error{"no answer"};
    }
    pb::Message message;
    *message.mutable_admin() = request;
    auto answer = cluster_.request(message);
    if (!answer) return Error{"no answer"};
    return answer->admin_reply();
  }
  int silent = 0;

 private:
  FakeCluster& cluster_;
};

TEST_F(Admin, TheCommandLineWaitsTellsOfProgressAndOutlivesASilence) {
  ClusterChannel channel(cluster);
  channel.silent = 2;
  std::string out;
  std::string error;
  int pauses = 0;
  AdminConsole console{[&](const std::string& text) { out += text; },
                       [&](const std::string& text) { error += text; },
                       [&] {
                         if (++pauses == 4) cluster.add_view_manager("v3");
                         cluster.run_for(Micros{100'000});
                       }};
  EXPECT_EQ(run_admin(channel, {.words = {"add-vm", "v3"}}, console), 0);
  EXPECT_THAT(out, HasSubstr("waits for v3 to register"));
  EXPECT_THAT(out, HasSubstr("done"));
  EXPECT_EQ(error, "");
  out.clear();
  EXPECT_EQ(run_admin(channel, {.words = {"remove-vm", "nobody"}}, console), 1);
  EXPECT_THAT(error, HasSubstr("there is no view manager nobody"));
  EXPECT_EQ(out, "");
  EXPECT_EQ(run_admin(channel, {.words = {"split-region", "1"}, .json = true, .wait = false}, console), 0);
  EXPECT_THAT(out, HasSubstr("\"outcome\":\"running\""));
  channel.silent = 3;
  EXPECT_EQ(run_admin(channel, {.words = {"status"}}, console), 1);
}

}  // namespace

}  // namespace tidemark
