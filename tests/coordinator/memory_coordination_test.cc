#include "coordinator/memory_coordination.h"

#include "tests/coordinator/election_contract.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {

namespace {

class MemoryBed : public CoordinationBed {
 public:
  explicit MemoryBed(CoordinationFaults faults = {}, uint64_t seed = 1)
      : random_(seed), tree_(scheduler_, faults) {}
  ~MemoryBed() override {
    sessions_.clear();
    scheduler_.run_until({scheduler_.now().value + 60'000'000});
  }

  Scheduler& scheduler() override { return scheduler_; }
  MemoryCoordination& open() override {
    sessions_.push_back(std::make_unique<MemoryCoordination>(tree_, scheduler_, random_.fork()));
    return *sessions_.back();
  }
  void close(Coordination& session) override {
    std::erase_if(sessions_, [&](const auto& mine) { return mine.get() == &session; });
  }
  void expire(Coordination& session) override {
    tree_.expire(static_cast<MemoryCoordination&>(session).session());
  }
  void run(std::function<void()> task) override { task(); }
  bool wait(std::function<bool()> holds) override { return holds() || scheduler_.run_while_not(holds); }
  CoordinationTree& tree() { return tree_; }

 private:
  VirtualScheduler scheduler_;
  Random random_;
  CoordinationTree tree_;
  std::vector<std::unique_ptr<MemoryCoordination>> sessions_;
};

std::unique_ptr<CoordinationBed> perfect() {
  return std::make_unique<MemoryBed>();
}
std::unique_ptr<CoordinationBed> slow() {
  return std::make_unique<MemoryBed>(
      CoordinationFaults{.delay_max = Micros{5'000}, .watch_delay_max = Micros{20'000}}, 7);
}

std::unique_ptr<CoordinationBed> lagging() {
  return std::make_unique<MemoryBed>(CoordinationFaults{.lagging = 0.5, .lag_max = Micros{500'000}}, 7);
}

INSTANTIATE_TEST_SUITE_P(Perfect, CoordinationContract, testing::Values(perfect));
INSTANTIATE_TEST_SUITE_P(Slow, CoordinationContract, testing::Values(slow));
INSTANTIATE_TEST_SUITE_P(Perfect, ElectionContract, testing::Values(perfect));
INSTANTIATE_TEST_SUITE_P(Slow, ElectionContract, testing::Values(slow));
INSTANTIATE_TEST_SUITE_P(Lagging, ElectionContract, testing::Values(lagging));

// A reply that is lost leaves no second entry in the queue: nobody would ever take it away.
TEST(MemoryCoordination, ALostReplyLeavesNoOrphanInTheElection) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    MemoryBed bed({.delay_max = Micros{1'000},
                   .lose_request = 0.1,
                   .lose_reply = 0.3,
                   .reconnect_delay_max = Micros{10'000}},
                  seed);
    Random random(seed);
    std::optional<std::string> elected[2];
    std::vector<std::unique_ptr<Election>> elections;
    pb::ProcessFact self;
    for (auto& entry : elected)
      elections.push_back(std::make_unique<Election>(bed.scheduler(), bed.open(), random, self,
                                                     [&entry](const auto& now) { entry = now; }));
    ASSERT_TRUE(bed.wait([&] {
      auto queue = bed.tree().entries().children(paths::kElection);
      return queue.ok() && queue->size() == 2 && (elected[0] || elected[1]);
    }));
    auto& clock = static_cast<VirtualScheduler&>(bed.scheduler());
    clock.run_until({clock.now().value + 2'000'000});
    EXPECT_EQ(bed.tree().entries().children(paths::kElection)->size(), 2u) << seed;
    EXPECT_NE(elected[0].has_value(), elected[1].has_value()) << seed;
    elections.clear();
  }
}

// A candidate hears that the one before it is gone while it waits for another answer: it looks once more.
TEST(MemoryCoordination, NoDeathIsOverheardByTheNextInLine) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    MemoryBed bed({.delay_max = Micros{20'000}, .watch_delay_max = Micros{5'000}}, seed);
    Random random(seed);
    std::optional<std::string> elected;
    auto stand = [&](Coordination& session, Election::Listener listener) {
      return std::make_unique<Election>(bed.scheduler(), session, random, pb::ProcessFact{}, listener);
    };
    Coordination& session = bed.open();
    auto first = stand(session, [&](const auto& now) { elected = now; });
    ASSERT_TRUE(bed.wait([&] { return elected.has_value(); }));
    auto second = stand(bed.open(), [&](const auto& now) { elected = now; });
    ASSERT_TRUE(bed.wait([&] { return bed.tree().entries().children(paths::kElection)->size() == 2; }));
    auto& clock = static_cast<VirtualScheduler&>(bed.scheduler());
    clock.run_until({clock.now().value + 100'000});
    first.reset();
    elected.reset();
    second->look_again();
    clock.run_until({clock.now().value + static_cast<int64_t>(random.below(40'000))});
    bed.close(session);
    EXPECT_TRUE(bed.wait([&] { return elected.has_value(); })) << seed;
    second.reset();
  }
}

// A counter that is only ever raised by compare-and-set, with connections breaking before and after: a lost
// reply leaves it raised, a lost request does not, and both are met.
TEST(MemoryCoordination, AnUnknownOutcomeIsSometimesDoneAndSometimesNot) {
  int done = 0;
  int not_done = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    MemoryBed bed({.delay_max = Micros{1'000},
                   .lose_request = 0.2,
                   .lose_reply = 0.2,
                   .reconnect_delay_max = Micros{10'000}},
                  seed);
    Coordination& c = bed.open();
    const EntryTree& truth = bed.tree().entries();
    while (!*truth.exists("/x")) {
      (void)bed.create(c, "/x", "");
      bed.wait([&] { return false; });  // Connected again.
    }
    for (int i = 0; i < 20; ++i) {
      int32_t before = truth.get({}, "/x")->version;
      auto result = bed.multi(c, {set_op("/x", "", before)});
      int32_t after = truth.get({}, "/x")->version;
      if (result.ok()) {
        EXPECT_EQ(after, before + 1);
      } else {
        EXPECT_EQ(result.error(), CoordinationError::Disconnected);
        (after == before ? not_done : done)++;
        bed.wait([&] { return false; });  // Connected again.
      }
    }
  }
  EXPECT_GT(done, 0);
  EXPECT_GT(not_done, 0);
}

TEST(MemoryCoordination, ASessionWithoutAConnectionExpiresInTimeAndNotBefore) {
  MemoryBed bed({.session_timeout = Micros{1'000'000}});
  MemoryCoordination& a = bed.open();
  Coordination& b = bed.open();
  ASSERT_TRUE(bed.create(a, "/alive", "", EntryMode::Ephemeral).ok());
  auto& clock = static_cast<VirtualScheduler&>(bed.scheduler());
  a.disconnect();
  EXPECT_EQ(bed.get(a, "/alive").error(), CoordinationError::Disconnected);
  clock.run_until({clock.now().value + 900'000});
  a.reconnect();
  clock.run_until({clock.now().value + 2'000'000});
  EXPECT_TRUE(bed.get(a, "/alive")->own_ephemeral);
  a.disconnect();
  clock.run_until({clock.now().value + 1'100'000});
  EXPECT_FALSE(bed.exists(b, "/alive").value());
  a.reconnect();
  clock.run_until({clock.now().value + 1});
  EXPECT_EQ(bed.get(a, "/x").error(), CoordinationError::SessionExpired);
}

TEST(MemoryCoordination, AnAnswerForTheSessionBeforeDoesNotEndTheNewOne) {
  MemoryBed bed({.session_timeout = Micros{1'000'000}});
  MemoryCoordination& a = bed.open();
  ASSERT_TRUE(bed.create(a, "/x", "").ok());
  int expired = 0;
  a.on_session([&](SessionState state) {
    if (state != SessionState::Expired) return;
    ++expired;
    a.new_session();
  });
  auto& clock = static_cast<VirtualScheduler&>(bed.scheduler());
  a.disconnect();
  clock.run_until({clock.now().value + 1'100'000});
  // A process that wakes up tries to connect, and so does a timer of its own that was due meanwhile.
  a.reconnect();
  clock.post([&] { a.reconnect(); });
  clock.run_until({clock.now().value + 1'000});
  EXPECT_EQ(expired, 1);
  EXPECT_TRUE(bed.get(a, "/x").ok());
}

TEST(MemoryCoordination, WhatWasSentInASessionThatIsOverIsNotDoneInTheNextOne) {
  VirtualScheduler world;
  CoordinationTree tree(world, {.delay_max = Micros{100'000}});
  ProcessScheduler loop(world);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    MemoryCoordination session(tree, loop, Random(seed));
    session.on_session([&](SessionState state) {
      if (state == SessionState::Expired) session.new_session();
    });
    world.run_until({world.now().value + 1'000'000});
    session.create("/late", "", EntryMode::Ephemeral, [](auto) {});
    tree.expire(session.session());
    world.run_until({world.now().value + 1'000'000});
    EXPECT_FALSE(tree.entries().exists("/late").value()) << seed;
    session.abandon();
    world.run_until({world.now().value + 100'000'000});
  }
}

TEST(MemoryCoordination, AServerThatLagsShowsThePastButNotToWhoeverWrites) {
  MemoryBed bed({.lag_max = Micros{1'000'000}});
  Coordination& leader = bed.open();
  ASSERT_TRUE(bed.create(leader, "/x", "old").ok());
  bed.tree().set_faults({.lagging = 1, .lag_max = Micros{1'000'000}});
  Coordination& a = bed.open();
  Coordination& b = bed.open();
  ASSERT_TRUE(bed.exists(a, "/x").value());
  auto& clock = static_cast<VirtualScheduler&>(bed.scheduler());
  clock.run_until({clock.now().value + 1'000'000});
  ASSERT_TRUE(bed.multi(leader, {set_op("/x", "new")}).ok());
  int told = 0;
  a.get(
      "/x", [&] { ++told; }, [](auto) {});
  EXPECT_EQ(bed.get(leader, "/x")->data, "new");
  EXPECT_EQ(bed.get(a, "/x")->data, "old");
  EXPECT_EQ(told, 0);

  ASSERT_TRUE(bed.create(b, "/y", "").ok());  // It shows b what it wrote, and so all before it.
  EXPECT_EQ(bed.get(b, "/x")->data, "new");
  EXPECT_TRUE(bed.wait([&] { return told == 1; }));

  ASSERT_TRUE(bed.multi(leader, {set_op("/x", "newer")}).ok());
  EXPECT_EQ(bed.get(a, "/x")->data, "new");
  clock.run_until({clock.now().value + 1'000'000});
  EXPECT_EQ(bed.get(a, "/x")->data, "newer");

  ASSERT_TRUE(bed.multi(leader, {set_op("/x", "newest")}).ok());
  bed.tree().end_faults();
  EXPECT_EQ(bed.get(a, "/x")->data, "newest");
}

TEST(MemoryCoordination, TheSessionOfADeadProcessEndsByItsTimeout) {
  MemoryBed bed({.session_timeout = Micros{1'000'000}});
  MemoryCoordination& a = bed.open();
  Coordination& b = bed.open();
  ASSERT_TRUE(bed.create(a, "/alive", "", EntryMode::Ephemeral).ok());
  auto& clock = static_cast<VirtualScheduler&>(bed.scheduler());
  a.abandon();
  clock.run_until({clock.now().value + 900'000});
  EXPECT_TRUE(bed.exists(b, "/alive").value());
  clock.run_until({clock.now().value + 200'000});
  EXPECT_FALSE(bed.exists(b, "/alive").value());
}

TEST(MemoryCoordination, TheSessionOfAHungProcessLives) {
  VirtualScheduler world;
  CoordinationTree tree(world, {.session_timeout = Micros{1'000'000}});
  ProcessScheduler hung(world);
  MemoryCoordination session(tree, hung, Random(1));
  session.create("/alive", "", EntryMode::Ephemeral, [](auto) {});
  world.run_until({1'000});
  ASSERT_TRUE(tree.entries().exists("/alive").value());
  hung.pause();
  world.run_until({100'000'000});
  EXPECT_TRUE(tree.entries().exists("/alive").value());
  session.abandon();
}

}  // namespace

}  // namespace tidemark
