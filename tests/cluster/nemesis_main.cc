// A run of the nemesis: `nemesis --seed N --minutes M`. Without flags a short one, every kind of fault once.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "tests/cluster/crash_test.h"
#include "tests/cluster/nemesis.h"

namespace tidemark::crash {
namespace {

constexpr size_t kDiskMegabytes = 256;

struct Flags {
  uint64_t seed = 1;
  uint64_t minutes = 0;
  std::string only;
  uint64_t writers = 1;
  uint64_t pause_millis = 20;
};
Flags flags;

void print_report(const Nemesis& nemesis, TidemarkCluster& cluster) {
  std::printf("\n| fault | times | longest recovery | longest wait of a write |\n|---|---|---|---|\n");
  std::chrono::milliseconds longest{0};
  for (const auto& [kind, report] : nemesis.report()) {
    std::printf("| %s | %llu | %.1f s | %.1f s |\n", kind.c_str(),
                static_cast<unsigned long long>(report.count),
                static_cast<double>(report.recovery_longest.count()) / 1000,
                static_cast<double>(report.wait_longest.count()) / 1000);
    longest = std::max(longest, report.wait_longest);
  }
  int64_t pause = 0;
  std::map<std::string, uint64_t> outcomes;
  for (const OperationShown& operation : cluster.history()) {
    pause = std::max(pause, operation.longest_pause_micros);
    ++outcomes[operation.outcome];
  }
  std::printf(
      "\nfaults: %llu\nlongest unavailability of a region: %.1f s\nlongest pause of a lane: %.1f ms\n",
      static_cast<unsigned long long>(nemesis.faults()), static_cast<double>(longest.count()) / 1000,
      static_cast<double>(pause) / 1000);
  for (const auto& [outcome, count] : outcomes)
    std::printf("operations %s: %llu\n", outcome.c_str(), static_cast<unsigned long long>(count));
  std::fflush(stdout);
}

TEST(Nemesis, NothingIsLostDoubledOrReorderedAndEveryViewConverges) {
  TM_REQUIRE_KAFKA();
  const bool own_mounts = enter_own_mounts();
  if (!own_mounts) std::printf("no disk is filled: that takes root\n");
  std::printf("replay with: nemesis --seed %llu --minutes %llu\n",
              static_cast<unsigned long long>(flags.seed), static_cast<unsigned long long>(flags.minutes));
  servers::TemporaryDirectory disks("disks");
  std::optional<SmallDisk> disk;
  if (own_mounts) disk.emplace(disks.path() / "small", kDiskMegabytes);

  TidemarkCluster cluster({.zookeepers = servers::ZooKeeperSize::Three,
                           .brokers = servers::KafkaSize::Three,
                           .nodes = 2,
                           .view_managers = 2,
                           .standbys = 1});
  Member& third = disk ? cluster.add_node(disk->path() / "data") : cluster.add_node();
  third.process().start();
  Load load(cluster.gateways(), {.workload = {.writers = flags.writers,
                                              .pause = std::chrono::milliseconds(flags.pause_millis),
                                              .seed = flags.seed}});
  load.create();
  Probe probe(cluster.gateways());
  probe.start();
  load.start();

  Random random(flags.seed);
  Nemesis nemesis({.cluster = cluster,
                   .nodes = cluster.nodes().size(),
                   .random = random,
                   .disk = disk ? &*disk : nullptr,
                   .disk_node = disk ? third.name() : ""},
                  probe, flags.only);
  nemesis.run(std::chrono::minutes(flags.minutes));
  probe.stop();
  print_report(nemesis, cluster);
  for (const std::string& finding : nemesis.findings()) ADD_FAILURE() << finding;
  expect_nothing_wrong(load, std::to_string(nemesis.faults()) + " faults");
}

}  // namespace
}  // namespace tidemark::crash

int main(int argc, char** argv) {
  using tidemark::crash::flags;
  testing::InitGoogleTest(&argc, argv);
  CLI::App app("Torments a cluster and checks that nothing is lost.", "nemesis");
  app.add_option("--seed", flags.seed, "decides which faults, and when");
  app.add_option("--minutes", flags.minutes, "how long; at least every kind of fault once");
  app.add_option("--only", flags.only, "only kinds of faults with this in their name, as in \"pause\"");
  app.add_option("--writers", flags.writers, "per workload");
  app.add_option("--pause", flags.pause_millis, "milliseconds between the writes of one writer");
  CLI11_PARSE(app, argc, argv);
  return RUN_ALL_TESTS();
}
