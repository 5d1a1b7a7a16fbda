// Elections on each implementation of Coordination: see coordination_contract.h.
#pragma once

#include "coordinator/election.h"
#include "coordinator/fact_store.h"
#include "tests/coordinator/coordination_contract.h"

namespace tidemark {

class ElectionContract : public CoordinationContract {
 protected:
  struct Candidate {
    std::optional<std::string> entry;
    Random random{0};
    std::unique_ptr<Election> election;
  };

  std::shared_ptr<Candidate> stand(Coordination& session, const std::string& name, uint64_t seed) {
    auto out = std::make_shared<Candidate>();
    out->random = Random(seed);
    pb::ProcessFact self;
    self.set_name(name);
    bed->run([&] {
      out->election =
          std::make_unique<Election>(bed->scheduler(), session, out->random, self,
                                     [raw = out.get()](const auto& entry) { raw->entry = entry; });
    });
    return out;
  }
  void retire(std::initializer_list<std::shared_ptr<Candidate>> candidates) {
    bed->run([&] {
      for (auto& candidate : candidates) candidate->election.reset();
    });
  }
  bool is_elected(const std::shared_ptr<Candidate>& candidate) {
    return bed->wait([candidate] { return candidate->entry.has_value(); });
  }
  // Until so many stand in line: who comes first is decided by then.
  bool queue_is(size_t count) {
    for (int i = 0; i < 1000; ++i) {
      auto names = bed->children(b, paths::kElection);
      if (names.ok() && names->size() == count) return true;
    }
    return false;
  }
  Result<bool, CoordinationError> write(FactStore& store, const std::string& guard, const ClusterFacts& facts,
                                        uint64_t nonce) {
    return bed->ask<bool>([&](auto done) {
      store.write(guard, facts, nonce, [done](auto result) {
        if (!result.ok()) return done(result.error());
        done(true);
      });
    });
  }
  Result<ClusterFacts, CoordinationError> load(FactStore& store) {
    return bed->ask<ClusterFacts>([&](auto done) { store.load(done); });
  }
};

TEST_P(ElectionContract, TheNextInLineFollowsAndOnlyThen) {
  auto first = stand(a, "n1", 1);
  ASSERT_TRUE(is_elected(first));
  auto second = stand(b, "n2", 2);
  Coordination& c = bed->open();
  ASSERT_TRUE(queue_is(2));
  auto third = stand(c, "n3", 3);
  ASSERT_TRUE(queue_is(3));
  EXPECT_FALSE(second->entry || third->entry);
  bed->run(
      [&] { second->election->withdraw([] {}); });  // One in the middle leaves: nobody is elected by that.
  bed->run([&] { first->election.reset(); });
  bed->close(a);
  ASSERT_TRUE(is_elected(third));
  EXPECT_FALSE(second->entry);
  retire({second, third});
}

TEST_P(ElectionContract, AnExpiredCoordinatorStandsAgainAtTheEnd) {
  auto first = stand(a, "n1", 1);
  ASSERT_TRUE(is_elected(first));
  auto second = stand(b, "n2", 2);
  ASSERT_TRUE(queue_is(2));
  bed->expire(a);
  ASSERT_TRUE(is_elected(second));
  ASSERT_TRUE(bed->wait([&] { return !first->entry; }));
  bed->run([&] { second->election.reset(); });
  bed->close(b);
  EXPECT_TRUE(is_elected(first));
  retire({first});
}

// The heart of it: what a deposed coordinator had prepared is refused, however late it comes.
TEST_P(ElectionContract, ADeposedCoordinatorCanWriteNothing) {
  auto first = stand(a, "n1", 1);
  ASSERT_TRUE(is_elected(first));
  std::string old_entry = *first->entry;
  FactStore of_the_deposed(a);
  ASSERT_TRUE(load(of_the_deposed).ok());
  ClusterFacts facts;
  facts.cluster.set_cluster(1);
  facts.map.set_version(1);
  ASSERT_TRUE(write(of_the_deposed, old_entry, facts, 1).ok());

  auto second = stand(b, "n2", 2);
  ASSERT_TRUE(queue_is(2));
  bed->expire(a);
  ASSERT_TRUE(is_elected(second));
  // The same process, with a new session and its old entry in mind: the facts are where it knows them to be.
  ASSERT_TRUE(bed->wait([&] { return !first->entry; }));
  FactStore awake_again(a);
  auto reloaded = load(awake_again);
  for (int i = 0; i < 50 && !reloaded.ok(); ++i) reloaded = load(awake_again);
  ASSERT_TRUE(reloaded.ok());
  facts.map.set_version(2);
  EXPECT_EQ(write(awake_again, old_entry, facts, 2).error(), CoordinationError::NoNode);

  FactStore of_the_elected(b);
  ASSERT_EQ(load(of_the_elected)->map.version(), 1u);
  facts.map.set_version(3);
  EXPECT_TRUE(write(of_the_elected, *second->entry, facts, 3).ok());
  // And one that is still elected, but has not seen the newest facts, neither.
  FactStore stale(b);
  ASSERT_TRUE(load(stale).ok());
  facts.map.set_version(4);
  ASSERT_TRUE(write(of_the_elected, *second->entry, facts, 4).ok());
  facts.map.set_version(5);
  EXPECT_EQ(write(stale, *second->entry, facts, 5).error(), CoordinationError::BadVersion);
  retire({first, second});
}

}  // namespace tidemark
