// `tidemark up`, killed for real under load: what was acknowledged is there, what was refused is not, what is
// unknown was done once or not at all, and the views are right.
#include <algorithm>

#include "tests/cluster/crash_test.h"
#include "tests/cluster/embedded_process.h"
#include "tests/cluster/region_churn.h"

namespace tidemark::crash {
namespace {

constexpr uint64_t kKillsBetweenChecks = 20;

class EmbeddedCrash : public testing::Test {
 protected:
  const uint64_t seed_ = from_environment("TIDEMARK_CRASH_SEED", 1);
  const uint64_t kills_ = from_environment("TIDEMARK_CRASH_EMBEDDED_KILLS", 5);
  Random random_{seed_};

  static LoadOptions load_options(uint64_t seed) {
    return {.workload = {.writers = 2, .seed = seed, .patience = std::chrono::seconds(5)}};
  }

  // Sometimes again before it is ready: recovery must survive a crash, too.
  void kill_and_start(EmbeddedProcess& up) {
    up.process().kill();
    while (random_.chance(0.25)) {
      up.process().launch();
      std::this_thread::sleep_for(std::chrono::milliseconds(random_.between(1, 400)));
      up.process().kill();
    }
    up.process().start();
  }
};

TEST_F(EmbeddedCrash, NothingIsLostOrDoubledByKill9UnderLoad) {
  EmbeddedProcess up({});
  up.process().start();
  Load load(up.gateways(), load_options(seed_));
  load.create();
  load.start();
  for (uint64_t i = 1; i <= kills_; ++i) {
    wait_for_writes(load, random_.below(300));
    kill_and_start(up);
    if (i % kKillsBetweenChecks != 0 && i != kills_) continue;
    wait_for_writes(load, 1);
    expect_nothing_wrong(load, std::to_string(i) + " kills");
    if (HasFailure()) return;
    load.start();
  }
}

TEST_F(EmbeddedCrash, NothingIsLostOrDoubledByKill9WhileRegionsMoveSplitAndMerge) {
  EmbeddedProcess up({.nodes = 2});
  up.process().start();
  Load load(up.gateways(), load_options(seed_ + 1));
  load.create();
  load.start();
  for (uint64_t i = 1; i <= kills_; ++i) {
    for (int operations = 0; operations < 3; ++operations) {
      if (const Words words = random_region_operation(up.status(), random_); !words.empty()) up.admin(words);
      wait_for_writes(load, random_.below(100));
    }
    kill_and_start(up);
    if (i % kKillsBetweenChecks != 0 && i != kills_) continue;
    wait_for_writes(load, 1);
    expect_nothing_wrong(load, std::to_string(i) + " kills among moves, splits and merges");
    if (HasFailure()) return;
    load.start();
  }
  load.stop();
}

// Each of these is what a lost, doubled or invented write would look like.
TEST_F(EmbeddedCrash, TheChecksFindWhatIsWrong) {
  EmbeddedProcess up({});
  up.process().start();
  Load load(up.gateways(), load_options(seed_));
  load.create();
  load.start();
  wait_for_writes(load, 500);
  load.stop();
  EXPECT_EQ(load.verify(), Findings());
  SqlClient client(up.gateways(), 1);
  for (const char* damage :
       {"delete from transfers where id = 1", "delete from list where id = 1",
        "update counters set n = n + 1 where k = 3", "update counters set n = n - 1 where k = 4",
        "insert into registers values ('nobody', 1, 2)", "insert into orders values (999999999, 1, 2)"}) {
    client.ask_until_done(damage);
  }
  const Findings findings = load.verify();
  for (const char* part :
       {"transfer 1:", "list 1:", "counter 3", "counter 4", "register nobody", "order 999999999"}) {
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const std::string& one) {
      return one.find(part) != std::string::npos;
    })) << part;
  }
}

}  // namespace
}  // namespace tidemark::crash
