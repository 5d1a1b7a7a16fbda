// The contract of Coordination, run against each implementation: include it, then
//   INSTANTIATE_TEST_SUITE_P(Memory, CoordinationContract, testing::Values(make_bed));
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/facts.h"
#include "coordinator/membership.h"
#include "tests/coordinator/coordination_bed.h"
#include "tests/coordinator/passing_coordination.h"

namespace tidemark {

class CoordinationContract : public testing::TestWithParam<std::unique_ptr<CoordinationBed> (*)()> {
 protected:
  CoordinationContract() : bed(GetParam()()), a(bed->open()), b(bed->open()) {}

  // A watch that counts its calls, and the count.
  Coordination::Watch counting() {
    return [count = calls] { ++*count; };
  }
  bool called(int times) {
    return bed->wait([count = calls, times] { return *count == times; });
  }

  std::unique_ptr<CoordinationBed> bed;
  Coordination& a;
  Coordination& b;
  std::shared_ptr<int> calls = std::make_shared<int>(0);
};

TEST_P(CoordinationContract, WhatOneCreatesAnotherReads) {
  EXPECT_EQ(bed->create(a, "/x", "one").value(), "/x");
  Entry entry = bed->get(b, "/x").value();
  EXPECT_EQ(entry.data, "one");
  EXPECT_EQ(entry.version, 0);
  EXPECT_FALSE(entry.own_ephemeral);
  EXPECT_EQ(bed->create(b, "/x", "two").error(), CoordinationError::NodeExists);
  EXPECT_EQ(bed->create(b, "/no/y", "").error(), CoordinationError::NoNode);
  EXPECT_EQ(bed->get(b, "/nowhere").error(), CoordinationError::NoNode);
  EXPECT_EQ(bed->children(b, "/nowhere").error(), CoordinationError::NoNode);
}

TEST_P(CoordinationContract, CompareAndSetHappensOnceForEachVersion) {
  ASSERT_TRUE(bed->create(a, "/x", "one").ok());
  EXPECT_TRUE(bed->multi(a, {set_op("/x", "two", 0)}).ok());
  EXPECT_EQ(bed->multi(b, {set_op("/x", "three", 0)}).error(), CoordinationError::BadVersion);
  Entry entry = bed->get(b, "/x").value();
  EXPECT_EQ(entry.data, "two");
  EXPECT_EQ(entry.version, 1);
}

TEST_P(CoordinationContract, AMultiHappensWholeOrNotAtAll) {
  ASSERT_TRUE(bed->multi(a, {create_op("/x", "one"), create_op("/y", "one")}).ok());
  EXPECT_EQ(bed->multi(a, {set_op("/x", "two", 0), remove_op("/y"), create_op("/x", "")}).error(),
            CoordinationError::NodeExists);
  EXPECT_EQ(bed->multi(a, {set_op("/x", "two", 0), check_op("/y", 7)}).error(),
            CoordinationError::BadVersion);
  EXPECT_EQ(bed->multi(a, {check_op("/gone"), set_op("/x", "two", 0)}).error(), CoordinationError::NoNode);
  EXPECT_EQ(bed->get(b, "/x")->data, "one");
  EXPECT_TRUE(bed->exists(b, "/y").value());
  EXPECT_TRUE(bed->multi(a, {check_op("/x", 0), remove_op("/y", 0), set_op("/x", "two", 0)}).ok());
  EXPECT_EQ(bed->get(b, "/x")->data, "two");
  EXPECT_FALSE(bed->exists(b, "/y").value());
}

TEST_P(CoordinationContract, AnEntryWithChildrenStays) {
  ASSERT_TRUE(bed->multi(a, {create_op("/x", ""), create_op("/x/b", ""), create_op("/x/a", "")}).ok());
  EXPECT_EQ(bed->multi(a, {remove_op("/x")}).error(), CoordinationError::NotEmpty);
  EXPECT_THAT(bed->children(b, "/x").value(), testing::ElementsAre("a", "b"));
}

TEST_P(CoordinationContract, ARecreatedEntryCanBeTold) {
  ASSERT_TRUE(bed->create(a, "/x", "one").ok());
  int64_t before = bed->get(a, "/x")->created;
  ASSERT_TRUE(bed->multi(a, {remove_op("/x")}).ok());
  ASSERT_TRUE(bed->create(a, "/x", "one").ok());
  EXPECT_GT(bed->get(a, "/x")->created, before);
}

TEST_P(CoordinationContract, SequentialEntriesSortByCreation) {
  ASSERT_TRUE(bed->create(a, "/line", "").ok());
  std::string first = bed->create(a, "/line/x-", "", EntryMode::EphemeralSequential).value();
  std::string second = bed->create(b, "/line/x-", "", EntryMode::EphemeralSequential).value();
  EXPECT_LT(first, second);
  EXPECT_EQ(first.size(), second.size());
  EXPECT_THAT(bed->children(b, "/line").value(), testing::ElementsAre(first.substr(6), second.substr(6)));
}

TEST_P(CoordinationContract, EphemeralEntriesGoWithTheirSession) {
  ASSERT_TRUE(bed->create(a, "/alive", "", EntryMode::Ephemeral).ok());
  EXPECT_TRUE(bed->get(a, "/alive")->own_ephemeral);
  EXPECT_FALSE(bed->get(b, "/alive")->own_ephemeral);
  EXPECT_EQ(bed->create(a, "/alive/x", "").error(), CoordinationError::Refused);
  ASSERT_TRUE(bed->exists(b, "/alive", counting()).value());
  bed->close(a);
  EXPECT_TRUE(called(1));
  EXPECT_FALSE(bed->exists(b, "/alive").value());
}

TEST_P(CoordinationContract, AnExpiredSessionLearnsItAndBeginsAnew) {
  ASSERT_TRUE(bed->create(a, "/alive", "", EntryMode::Ephemeral).ok());
  ASSERT_TRUE(bed->create(b, "/x", "").ok());
  ASSERT_TRUE(bed->get(a, "/x", counting()).ok());
  auto states = std::make_shared<std::vector<SessionState>>();
  bed->run([&] { a.on_session([states](SessionState state) { states->push_back(state); }); });
  bed->expire(a);
  EXPECT_TRUE(bed->wait([states] { return !states->empty() && states->back() == SessionState::Expired; }));
  EXPECT_TRUE(called(1));  // The session was lost, and its watches with it.
  EXPECT_EQ(bed->get(a, "/x").error(), CoordinationError::SessionExpired);
  const std::string path = "/a-path-that-no-string-keeps-within-itself-", data = "of no use";
  EXPECT_EQ(bed->multi(a, {create_op(path + "1", data), create_op(path + "2", data), set_op(path + "3", data),
                           set_op(path + "4", data), check_op(path + "5", 0), check_op(path + "6", 0)})
                .error(),
            CoordinationError::SessionExpired);
  EXPECT_FALSE(bed->exists(b, "/alive").value());
  bed->run([&] { a.new_session(); });
  EXPECT_TRUE(bed->wait([states] { return states->back() == SessionState::Connected; }));
  EXPECT_TRUE(bed->create(a, "/alive", "", EntryMode::Ephemeral).ok());
  bed->run([&] { a.new_session(); });  // Nothing: this one lives.
  EXPECT_TRUE(bed->get(a, "/alive")->own_ephemeral);
}

TEST_P(CoordinationContract, AWatchIsCalledOnceForAChange) {
  ASSERT_TRUE(bed->create(a, "/x", "one").ok());
  ASSERT_TRUE(bed->get(b, "/x", counting()).ok());
  ASSERT_TRUE(bed->multi(a, {set_op("/x", "two")}).ok());
  EXPECT_TRUE(called(1));
  ASSERT_TRUE(bed->multi(a, {set_op("/x", "three")}).ok());
  ASSERT_TRUE(bed->get(b, "/x").ok());
  EXPECT_EQ(*calls, 1);
}

TEST_P(CoordinationContract, AWatchTellsOfCreationAndOfRemoval) {
  ASSERT_FALSE(bed->exists(b, "/x", counting()).value());
  ASSERT_TRUE(bed->create(a, "/x", "").ok());
  EXPECT_TRUE(called(1));
  ASSERT_TRUE(bed->get(b, "/x", counting()).ok());
  ASSERT_TRUE(bed->multi(a, {remove_op("/x")}).ok());
  EXPECT_TRUE(called(2));
}

TEST_P(CoordinationContract, AWatchTellsOfChildrenButNotOfTheirData) {
  ASSERT_TRUE(bed->multi(a, {create_op("/x", ""), create_op("/x/1", "")}).ok());
  ASSERT_TRUE(bed->children(b, "/x", counting()).ok());
  ASSERT_TRUE(bed->multi(a, {set_op("/x/1", "new")}).ok());
  ASSERT_TRUE(bed->get(b, "/x").ok());
  EXPECT_EQ(*calls, 0);
  ASSERT_TRUE(bed->create(a, "/x/2", "").ok());
  EXPECT_TRUE(called(1));
}

TEST_P(CoordinationContract, WhatIsTooLargeOrMisnamedIsRefused) {
  EXPECT_EQ(bed->create(a, "/x", std::string(kEntryBytesMax + 1, 'x')).error(), CoordinationError::Refused);
  std::string half(600'000, 'x');
  EXPECT_EQ(bed->multi(a, {create_op("/x", half), create_op("/y", half)}).error(),
            CoordinationError::Refused);
  for (const char* path : {"", "x", "/x/", "//x", "/x/../y", "/x\n"}) {
    EXPECT_EQ(bed->create(a, path, "").error(), CoordinationError::Refused) << path;
    EXPECT_EQ(bed->get(a, path).error(), CoordinationError::Refused) << path;
  }
  EXPECT_TRUE(bed->create(a, "/x", std::string(kEntryBytesMax, 'x')).ok());
  EXPECT_EQ(bed->get(b, "/x")->data.size(), kEntryBytesMax);
}

// ---- facts -------------------------------------------------------------------------------------------

TEST_P(CoordinationContract, ALargeFactIsReplacedWhole) {
  auto write = [&](Coordination& by, const std::string& data, std::optional<Fact> old, uint64_t nonce) {
    return bed->ask<bool>([&](auto done) {
      write_facts(by, {{"/f", data, old}}, nonce, {}, [done](auto result) {
        if (!result.ok()) return done(result.error());
        done(true);
      });
    });
  };
  auto read = [&] { return bed->ask<Fact>([&](auto done) { read_fact(b, "/f", nullptr, done); }).value(); };

  ASSERT_TRUE(write(a, "small", std::nullopt, 1).ok());
  Fact small = read();
  EXPECT_EQ(small.data, "small");
  std::string large(2'000'000, 'l');
  large.back() = '!';
  ASSERT_TRUE(write(a, large, small, 2).ok());
  Fact whole = read();
  EXPECT_EQ(whole.data, large);
  EXPECT_EQ(whole.chunks.size(), 3u);

  EXPECT_EQ(write(b, large + "lost", small, 3).error(), CoordinationError::BadVersion);
  EXPECT_EQ(read().data, large);
  EXPECT_EQ(bed->children(a, "/f")->size(), 6u);  // Three of them of the write that lost.
  EXPECT_TRUE(bed->ask<bool>([&](auto done) {
                   sweep_chunks(a, "/f", {}, [done](auto result) { done(result.ok()); });
                 })
                  .value());
  EXPECT_EQ(bed->children(a, "/f")->size(), 3u);
  EXPECT_EQ(read().data, large);
  ASSERT_TRUE(write(a, "small again", read(), 4).ok());
  EXPECT_EQ(read().data, "small again");
  EXPECT_TRUE(bed->children(a, "/f")->empty());
}

// Chunks lie below their pointer, which must be there first.
TEST_P(CoordinationContract, ANewFactMayBeLargerThanAnEntry) {
  const std::string large(2'000'000, 'l');
  auto create = [&](Coordination& by, uint64_t nonce) {
    return bed->ask<bool>([&](auto done) {
      write_facts(by, {{"/small", "s", {}}, {"/f", large, {}}, {"/g", large, {}}}, nonce, {},
                  [done](auto result) {
                    if (!result.ok()) return done(result.error());
                    done(true);
                  });
    });
  };
  ASSERT_TRUE(create(a, 1).ok());
  for (const char* path : {"/f", "/g"})
    EXPECT_EQ(bed->ask<Fact>([&](auto done) { read_fact(b, path, nullptr, done); })->data, large);
  EXPECT_EQ(create(b, 2).error(), CoordinationError::NodeExists);
}

// It may read from a server that lags behind its own last write, whose answer was lost.
TEST_P(CoordinationContract, ASweepThatReadAnOlderPointerRemovesNothing) {
  const std::string pointer = {2, 7, 1};  // To chunk 7-0.
  struct Late final : PassingCoordination {
    using PassingCoordination::PassingCoordination;
    void get(const std::string& path, Watch watch, Done<Entry> done) override {
      PassingCoordination::get(path, std::move(watch), [this, done](auto entry) {
        multi({set_op("/f", then)}, [entry, done](auto) { done(entry); });
      });
    }
    std::string then;
  } late(a);
  late.then = pointer;
  ASSERT_TRUE(bed->create(a, "/f", std::string(1, 1)).ok());
  ASSERT_TRUE(bed->create(a, "/f/7-0", "whole").ok());
  auto swept = bed->ask<bool>([&](auto done) {
    sweep_chunks(late, "/f", {}, [done](auto result) {
      if (!result.ok()) return done(result.error());
      done(true);
    });
  });
  EXPECT_EQ(swept.error(), CoordinationError::BadVersion);
  EXPECT_EQ(bed->ask<Fact>([&](auto done) { read_fact(b, "/f", nullptr, done); })->data, "whole");
}

TEST_P(CoordinationContract, AFactIsFollowedFromBeforeItsCreation) {
  auto seen = std::make_shared<std::vector<std::string>>();
  std::unique_ptr<FactWatch> watch;
  bed->run([&] {
    watch = std::make_unique<FactWatch>(b, bed->scheduler(), "/f", [seen](const std::optional<Fact>& fact) {
      seen->push_back(fact ? fact->data : "none");
    });
  });
  auto sees = [&](const std::string& what) {
    return bed->wait([seen, what] { return !seen->empty() && seen->back() == what; });
  };
  EXPECT_TRUE(sees("none"));
  std::optional<Fact> old;
  for (int i = 0; i < 3; ++i) {
    std::string data = "fact " + std::to_string(i);
    bed->run([&] { write_facts(a, {{"/f", data, old}}, 1, {}, [](auto) {}); });
    EXPECT_TRUE(sees(data));
    old = Fact{data, i, {}};
  }
  bed->expire(b);
  bed->run([&] {
    b.on_session([this](SessionState state) {
      if (state == SessionState::Expired) b.new_session();
    });
  });
  bed->run([&] { write_facts(a, {{"/f", "last", old}}, 1, {}, [](auto) {}); });
  EXPECT_TRUE(sees("last"));
  bed->run([&] { watch.reset(); });
}

TEST_P(CoordinationContract, ARegistrationOutlivesItsSession) {
  std::unique_ptr<EntriesWatch> watch;
  auto members = std::make_shared<Members>();
  bed->run([&] {
    watch =
        std::make_unique<EntriesWatch>(b, bed->scheduler(), paths::kNodes,
                                       [members](const auto& entries) { *members = members_from(entries); });
  });
  pb::ProcessFact self;
  self.set_name("n1");
  self.set_boot(1);
  std::unique_ptr<Registration> registration;
  bed->run([&] { registration = std::make_unique<Registration>(bed->scheduler(), a, paths::kNodes, self); });
  EXPECT_TRUE(bed->wait([members] { return members->contains("n1"); }));
  bed->expire(a);
  EXPECT_TRUE(
      bed->wait([&] { return registration->registered() && bed != nullptr && members->contains("n1"); }));

  // Another process of the same name waits until this one has gone.
  self.set_boot(2);
  Coordination& c = bed->open();
  std::unique_ptr<Registration> second;
  bed->run([&] { second = std::make_unique<Registration>(bed->scheduler(), c, paths::kNodes, self); });
  ASSERT_TRUE(bed->get(c, "/nodes").ok());
  EXPECT_FALSE(second->registered());
  bed->run([&] { registration->withdraw([] {}); });
  EXPECT_TRUE(bed->wait([&] { return second->registered(); }));
  EXPECT_TRUE(bed->wait([members] { return members->contains("n1") && members->at("n1").boot() == 2; }));
  bed->run([&] {
    registration.reset();
    second.reset();
    watch.reset();
  });
}

}  // namespace tidemark
