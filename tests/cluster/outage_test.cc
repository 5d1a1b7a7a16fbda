// What an operator fears: everything dies at once, a machine is lost for good, every process is restarted.
#include <cstdio>

#include "tests/cluster/crash_test.h"
#include "tests/cluster/embedded_process.h"
#include "tests/cluster/probe.h"
#include "tests/cluster/tidemark_cluster.h"

namespace tidemark::crash {
namespace {

const uint64_t seed = from_environment("TIDEMARK_CRASH_SEED", 1);

TEST(Outage, NothingIsLostWhenAllProcessesDieAtOnceOnKafka) {
  TM_REQUIRE_KAFKA();
  TidemarkCluster cluster({.standbys = 1});
  Load load(cluster.gateways(), {.workload = {.seed = seed}});
  load.create();
  load.start();
  for (uint64_t i = 1; i <= from_environment("TIDEMARK_CRASH_OUTAGES", 2); ++i) {
    wait_for_writes(load, 300);
    cluster.kill_all();
    cluster.start_all();
  }
  wait_for_writes(load, 1);
  expect_nothing_wrong(load, "an end of all processes");
}

TEST(Outage, NothingIsLostWhenAllDiesAtOnceOnFiles) {
  EmbeddedProcess up({.nodes = 3, .view_managers = 3});
  up.process().start();
  Load load(up.gateways(), {.workload = {.seed = seed}});
  load.create();
  load.start();
  for (uint64_t i = 1; i <= from_environment("TIDEMARK_CRASH_OUTAGES", 2); ++i) {
    wait_for_writes(load, 300);
    up.process().kill();
    up.process().start();
  }
  wait_for_writes(load, 1);
  expect_nothing_wrong(load, "an end of everything");
}

// Two, one after the other: what the first had is on the third by then.
TEST(Outage, NothingIsLostWithAMachineThatNeverComesBack) {
  TM_REQUIRE_KAFKA();
  TidemarkCluster cluster({.nodes = 3, .replica_absence = std::chrono::seconds(2)});
  Load load(cluster.gateways(), {.workload = {.seed = seed}});
  load.create();
  load.start();
  for (int lost = 1; lost <= 2; ++lost) {
    wait_for_writes(load, 300);
    cluster.wait_until_settled();
    // The log's beginning goes: now the lost machine's checkpoints are half of what there is.
    cluster.admin({"discard-logs"});
    Member& machine = cluster.member(cluster.status().coordinator);
    machine.process().kill();
    machine.wipe();
    cluster.forget(machine);
    wait_for_writes(load, 100);
  }
  expect_nothing_wrong(load, "two machines lost for good");
}

TEST(Outage, RollingRestartOfEveryProcessLosesNothing) {
  TM_REQUIRE_KAFKA();
  TidemarkCluster cluster({.zookeepers = servers::ZooKeeperSize::Three,
                           .brokers = servers::KafkaSize::Three,
                           .nodes = 3,
                           .standbys = 1});
  cluster.wait_until_settled();
  Load load(cluster.gateways(), {.workload = {.writers = 1, .seed = seed}});
  load.create();
  Probe probe(cluster.gateways());
  probe.start();
  load.start();
  auto restarted = [&](const std::string& name, const std::function<void()>& restart) {
    wait_for_writes(load, 50);
    probe.take_longest_wait();
    const auto began = Probe::Clock::now();
    restart();
    const auto back = Probe::Clock::now();
    servers::wait_until("every row can be written", [&] { return probe.all_written_since(back); });
    std::printf("%-12s restarted in %5.1f s, longest wait of a write %5.1f s\n", name.c_str(),
                std::chrono::duration<double>(back - began).count(),
                std::chrono::duration<double>(probe.take_longest_wait()).count());
  };
  for (const auto& members : {cluster.nodes(), cluster.view_managers()}) {
    for (Member* member : members) {
      cluster.wait_until_settled();
      restarted(member->name(), [&] {
        member->process().stop();
        member->process().start();
      });
    }
  }
  for (size_t i = 0; i < cluster.kafka().size(); ++i)
    restarted(cluster.kafka().broker(i).name(), [&] {
      cluster.kafka().broker(i).stop();
      cluster.kafka().broker(i).start();
      cluster.kafka().wait_until_ready();
    });
  for (size_t i = 0; i < cluster.zookeeper().size(); ++i)
    restarted(cluster.zookeeper().member(i).name(), [&] {
      cluster.zookeeper().member(i).stop();
      cluster.zookeeper().member(i).start();
    });
  probe.stop();
  expect_nothing_wrong(load, "a rolling restart");
}

}  // namespace
}  // namespace tidemark::crash
