// What a campaign says of seeds that fail. Its runs are no simulations: they fail as the tests wish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/assert.h"
#include "cli/command.h"
#include "cli/simulate_command.h"
#include "cli/simulate_shrink.h"
#include "cli/simulate_trace.h"
#include "tests/wal/temporary_directory.h"

namespace tidemark {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Answer {
  int code;
  std::string out;
  std::string err;
};

Answer simulate(const RunScenario& run, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "simulate");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = simulate_command(static_cast<int>(arguments.size()), argv.data(), run);
  std::string out = ::testing::internal::GetCapturedStdout();
  return {code, std::move(out), ::testing::internal::GetCapturedStderr()};
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

void say(const sim::Trace::Sink& trace, const std::string& line) {
  if (trace) trace(line);
}

// A program that forgets nothing between two runs: each one in a process ends otherwise.
uint64_t runs = 0;

sim::RunReport passes(const sim::Scenario&, const sim::Trace::Sink& trace) {
  say(trace, "all is well");
  return {};
}
sim::RunReport loses_a_write(const sim::Scenario&, const sim::Trace::Sink& trace) {
  say(trace, "VIOLATED");
  sim::RunReport report;
  report.findings.push_back({"no write lost", "17 is lost", Micros{1'500'000}});
  return report;
}
sim::RunReport ends_otherwise(const sim::Scenario&, const sim::Trace::Sink& trace) {
  sim::RunReport report;
  report.state_hash = ++runs;
  say(trace, "begins");
  say(trace, "run " + std::to_string(runs));
  return report;
}
sim::RunReport dies(const sim::Scenario&, const sim::Trace::Sink& trace) {
  say(trace, "about to die");
  TM_ASSERT(trace == nullptr && trace != nullptr);
  return {};
}
sim::RunReport hangs(const sim::Scenario&, const sim::Trace::Sink& trace) {
  say(trace, "about to hang");
  for (;;) ::pause();
}

// Seed 3 runs so, all others pass.
RunScenario third(sim::RunReport (*run)(const sim::Scenario&, const sim::Trace::Sink&)) {
  return [run](const sim::Scenario& scenario, const sim::Trace::Sink& trace) {
    return scenario.seed == 3 ? run(scenario, trace) : passes(scenario, trace);
  };
}

class SimulateTest : public ::testing::Test {
 protected:
  SimulateTest() { runs = 0; }

  std::string in_directory(const std::string& name) const { return (directory_.path() / name).string(); }
  Answer simulate_seeds(const RunScenario& run, const std::string& seeds,
                        std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--seeds", seeds, "--traces", directory_.path().string()});
    return simulate(run, more);
  }
  size_t file_count() const {
    const auto files = std::filesystem::directory_iterator(directory_.path());
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  TemporaryDirectory directory_;
};

TEST_F(SimulateTest, AFailureLeavesATraceAndTheCommandThatReplaysIt) {
  const Answer answer = simulate_seeds(third(loses_a_write), "1-4");
  EXPECT_EQ(answer.code, kFailed);
  const std::string file = in_directory("seed3.trace");
  EXPECT_EQ(answer.err, "seed 3: no write lost: 17 is lost (at 1.500 s)\n  trace: " + file +
                            "\n  replay: tidemark simulate --seeds 3 --trace " + file + "\n");
  EXPECT_EQ(text_of(file), "VIOLATED\n");
  EXPECT_EQ(file_count(), 1u);
  EXPECT_THAT(answer.out, HasSubstr("seeds: 4\nfailed: 1\n"));
}

TEST_F(SimulateTest, WhatEndsASeedEndsItsTraceAndNothingElse) {
  const Answer answer = simulate_seeds(third(dies), "1-4");
  EXPECT_EQ(answer.code, kFailed);
  EXPECT_THAT(answer.err, HasSubstr("seed 3: the process died: killed by signal 6\n  trace: "));
  EXPECT_THAT(text_of(in_directory("seed3.trace")), StartsWith("about to die\n"));
  EXPECT_THAT(text_of(in_directory("seed3.trace")), HasSubstr("assertion failed: "));
  EXPECT_THAT(answer.out, HasSubstr("seeds: 4\nfailed: 1\n"));
}

TEST_F(SimulateTest, ASeedThatHangsIsKilledAndSaysSo) {
  CampaignOptions options;
  options.last_seed = 4;
  options.seed_seconds_max = 1;
  options.run = third(hangs);
  std::map<uint64_t, std::string> died;
  run_campaign(options, [&](const SeedResult& result) { died[result.seed] = result.died; });
  EXPECT_EQ(died, (std::map<uint64_t, std::string>{
                      {1, ""}, {2, ""}, {3, "killed by signal 14 (it took longer than 1 s)"}, {4, ""}}));
  FailureTraces traces(options, directory_.path().string());
  EXPECT_EQ(traces.write(3), "  trace: " + in_directory("seed3.trace") + "\n");
  EXPECT_THAT(text_of(in_directory("seed3.trace")), StartsWith("about to hang\n"));
}

TEST_F(SimulateTest, OnlyTheFirstFailuresOfACampaignAreTraced) {
  const Answer answer = simulate_seeds(loses_a_write, "1-5");
  EXPECT_EQ(file_count(), static_cast<size_t>(FailureTraces::kCountMax));
  EXPECT_THAT(answer.err, EndsWith("seed 5: no write lost: 17 is lost (at 1.500 s)\n"
                                   "  replay: tidemark simulate --seeds 5 --trace " +
                                   in_directory("seed5.trace") + "\n"));
}

TEST_F(SimulateTest, NoTraceIsWrittenWhereNoneIsWanted) {
  std::filesystem::remove("seed3.trace");
  const Answer answer = simulate(loses_a_write, {"--seeds", "3", "--traces", ""});
  EXPECT_EQ(answer.err,
            "seed 3: no write lost: 17 is lost (at 1.500 s)\n"
            "  replay: tidemark simulate --seeds 3 --trace seed3.trace\n");
  EXPECT_FALSE(std::filesystem::exists("seed3.trace"));
  const Answer nowhere = simulate(loses_a_write, {"--seeds", "3", "--traces", in_directory("none")});
  EXPECT_EQ(nowhere.code, kWrongUsage);
}

TEST_F(SimulateTest, ATraceNamesTheScenarioThatIsNotTheSwarm) {
  simulate_seeds(loses_a_write, "3", {"--scenario", "disk"});
  EXPECT_EQ(text_of(in_directory("disk-seed3.trace")), "VIOLATED\n");
}

TEST_F(SimulateTest, ATraceOfARunThatDoesNotFailAgainSaysSo) {
  auto fails_by_chance = [](const sim::Scenario& scenario, const sim::Trace::Sink& trace) {
    return trace ? passes(scenario, trace) : loses_a_write(scenario, trace);
  };
  EXPECT_THAT(simulate_seeds(fails_by_chance, "3").err,
              HasSubstr("seed3.trace, of a run that did not fail\n"));
}

TEST_F(SimulateTest, TwoRunsThatEndDifferentlyLeaveBothTracesAndTheLineInWhichTheyPart) {
  const Answer answer = simulate_seeds(third(ends_otherwise), "1-4");
  EXPECT_EQ(answer.code, kFailed);
  const std::string file = in_directory("seed3.trace");
  EXPECT_EQ(answer.err, "seed 3: determinism: a second run ended in another state (at 0.000 s)\n  " + file +
                            " and " + file + ".2 differ first in line 2:\n    run 1\n    run 2\n  trace: " +
                            file + "\n  replay: tidemark simulate --seeds 3 --trace " + file + "\n");
  EXPECT_EQ(text_of(file), "begins\nrun 1\n");
  EXPECT_EQ(text_of(file + ".2"), "begins\nrun 2\n");
}

TEST_F(SimulateTest, AReplayRunsTwiceAndShowsWhereTheRunsPart) {
  const std::string file = in_directory("mine");
  const Answer answer = simulate(ends_otherwise, {"--seeds", "3", "--trace", file});
  EXPECT_EQ(answer.code, kFailed);
  EXPECT_THAT(answer.err,
              HasSubstr("differ first in line 2:\n    run 1\n    run 2\n  replay: tidemark simulate "
                        "--seeds 3 --trace " +
                        file + "\n"));
  EXPECT_EQ(text_of(file + ".2"), "begins\nrun 2\n");
  // Nothing is left of it where both runs end the same.
  EXPECT_EQ(simulate(passes, {"--seeds", "3", "--trace", file}).code, kDone);
  EXPECT_EQ(text_of(file), "all is well\n");
  EXPECT_FALSE(std::filesystem::exists(file + ".2"));
}

TEST_F(SimulateTest, NobodyComparesASeedThatRunsOnce) {
  EXPECT_EQ(simulate_seeds(ends_otherwise, "3", {"--once"}).code, kDone);
  EXPECT_EQ(simulate(ends_otherwise, {"--seeds", "3", "--once", "--trace", in_directory("mine")}).code,
            kDone);
  EXPECT_EQ(runs, 1u);
  EXPECT_THAT(simulate_seeds(loses_a_write, "3", {"--once"}).err, HasSubstr("--seeds 3 --once --trace"));
}

TEST_F(SimulateTest, WhatTakesOneSeedRefusesARange) {
  for (const std::string& option : std::vector<std::string>{"--trace=" + in_directory("mine"), "--shrink"}) {
    const Answer answer = simulate_seeds(passes, "1-2", {option});
    EXPECT_EQ(answer.code, kWrongUsage);
    EXPECT_EQ(answer.err, "tidemark simulate: " + option.substr(0, option.find('=')) +
                              " takes one seed, as in --seeds 17\n");
  }
  EXPECT_EQ(file_count(), 0u);
  EXPECT_EQ(simulate_seeds(passes, "2-2", {"--trace", in_directory("mine")}).code, kDone);
}

TEST_F(SimulateTest, NoProbeIsReachedWhereNoSeedEnded) {
  EXPECT_EQ(simulate_seeds(passes, "1-4", {"--all-probes"}).code, kDone);
  const Answer answer = simulate_seeds(passes, "1-4", {"--all-probes", "--minutes", "0"});
  EXPECT_EQ(answer.code, kFailed);
  EXPECT_THAT(answer.err, HasSubstr("no seed ended"));
}

std::vector<std::string> shrunk(const RunScenario& run) {
  CampaignOptions options;
  options.first_seed = 3;
  options.run = run;
  return shrink_failure(options, [](const std::string&) {});
}

TEST_F(SimulateTest, WhatIsMadeSmallerFailsInTheSameWay) {
  // With fewer operations another thing is wrong, which the same property is about.
  auto run = [](const sim::Scenario& scenario, const sim::Trace::Sink&) {
    sim::RunReport report;
    const std::string rows = std::to_string(scenario.operations);
    report.findings.push_back({"rows", (scenario.operations < 100 ? "more than " : "less than ") + rows, {}});
    return report;
  };
  sim::Scenario smaller = sim::draw_scenario(3);
  for (const std::string& setting : shrunk(run)) ASSERT_TRUE(sim::apply_setting(smaller, setting).ok());
  EXPECT_GE(smaller.operations, 100);
  EXPECT_LT(smaller.operations, 300);
  EXPECT_EQ(smaller.crash, 0);
}

TEST_F(SimulateTest, WhatEndsDifferentlyIsMadeSmallerByRunningTwice) {
  EXPECT_THAT(shrunk(ends_otherwise), ::testing::Contains("operations=20"));
  EXPECT_TRUE(shrunk(passes).empty());
}

}  // namespace
}  // namespace tidemark
