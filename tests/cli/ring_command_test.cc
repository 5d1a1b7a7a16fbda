#include "cli/ring_command.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command.h"

namespace tidemark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Answer {
  int code;
  std::string out, err;
};

class Ring : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(::testing::TempDir()) / (std::string("ring-") + test->name());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(file(name)).rdbuf();
    return text.str();
  }

  static Answer run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ring");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = ring_command(static_cast<int>(arguments.size()), argv.data());
    std::string out = ::testing::internal::GetCapturedStdout();
    return {code, std::move(out), ::testing::internal::GetCapturedStderr()};
  }
  static void expect_refused(const std::vector<std::string>& arguments, const std::string& why) {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.code, kFailed);
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, HasSubstr(why));
  }

  std::filesystem::path directory_;
};

TEST_F(Ring, ComputeSharesByWeight) {
  const Answer answer = run({"compute", "--shards", "8", "--member", "a", "--member", "b=3"});
  EXPECT_EQ(answer.code, kDone);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("| a      |      1 |      2 |    2 |   25.00 |      1 |"),
                                HasSubstr("| b      |      3 |      6 |    6 |   75.00 |      1 |")));
}

TEST_F(Ring, WhatComputeWritesTheOthersRead) {
  EXPECT_EQ(run({"compute", "--shards", "64", "--count", "4", "--output", file("old")}).code, kDone);
  EXPECT_EQ(
      run({"compute", "--present", file("old"), "--add", "n4", "--remove", "n1", "--output", file("next")})
          .code,
      kDone);
  const Answer diff = run({"diff", file("old"), file("next")});
  EXPECT_THAT(diff.out, AllOf(HasSubstr("moved: 16\n"), HasSubstr("|    16 |  32 |     16 | n1   | n4  |")));
  const Answer explain = run({"explain", file("next"), "--shard", "20", "--replicas", "2"});
  EXPECT_THAT(explain.out, AllOf(HasSubstr("owner: n4"), HasSubstr("| n2     | replica  |"),
                                 HasSubstr("| n3     | hand-off |")));
  EXPECT_EQ(run({"plot", file("old"), file("next"), "--output", file("svg")}).code, kDone);
  EXPECT_THAT(text_of("svg"), HasSubstr("<svg"));
}

TEST_F(Ring, JsonOfComputeIsARingFile) {
  const Answer answer = run({"compute", "--shards", "8", "--count", "2", "--json"});
  const std::string path = written("ring", answer.out);
  EXPECT_THAT(run({"explain", path, "--hash", "0xffffffffffffffff", "--replicas", "1", "--json"}).out,
              AllOf(HasSubstr("\"shard\": 7"), HasSubstr("\"owner\": \"n1\"")));
}

TEST_F(Ring, ARemovedMembersIdIsNotGivenToItsSuccessor) {
  run({"compute", "--shards", "8", "--count", "2", "--output", file("a")});
  run({"compute", "--present", file("a"), "--remove", "n0", "--add", "x", "--output", file("b")});
  EXPECT_THAT(text_of("b"), HasSubstr("{\"id\": 2, \"name\": \"x\", \"weight\": 1}"));
}

TEST_F(Ring, WeightedMoveTakesLoadAndSaysWhatToMeasureNext) {
  run({"compute", "--shards", "100", "--count", "2", "--output", file("ring")});
  const std::string load = written("load", R"({"slices": [{"first": 0, "end": 5, "load": 10},
      {"first": 5, "end": 50, "load": 10}, {"first": 50, "end": 100, "load": 1}]})");
  const Answer answer =
      run({"compute", "--present", file("ring"), "--strategy", "weighted-move", "--load", load, "--json"});
  EXPECT_THAT(answer.out, AllOf(HasSubstr("\"moved percent\": 5.00"), HasSubstr("\"measure\": [")));
  expect_refused({"compute", "--present", file("ring"), "--strategy", "weighted-move"},
                 "load per slice is missing");
}

TEST_F(Ring, BadMembersAreRefusedWithTheReason) {
  expect_refused({"compute"}, "there are no members");
  expect_refused({"compute", "--member", "a=0"},
                 "the weight of 'a' must be a whole number from 1 on, not '0'");
  expect_refused({"compute", "--member", "a=-2"}, "not '-2'");
  expect_refused({"compute", "--member", "a=x"}, "not 'x'");
  expect_refused({"compute", "--member", "=1"}, "a member needs a name");
  expect_refused({"compute", "--member", "a", "--member", "a"}, "two members are named 'a'");
  expect_refused({"compute", "--count", "9", "--shards", "8"}, "more members (9) than shards (8)");
  expect_refused({"compute", "--count", "2", "--remove", "n7"}, "there is no member 'n7' to remove");
  expect_refused({"compute", "--member", "a", "--member", "b=2", "--strategy", "jump"},
                 "can not weigh members");
}

TEST_F(Ring, AnUnknownStrategyIsRefusedAndTheNearestSuggested) {
  expect_refused({"compute", "--count", "2", "--strategy", "slicing-gredy"},
                 "did you mean 'slicing-greedy'?");
}

TEST_F(Ring, MoreReplicasThanMembersAreRefused) {
  run({"compute", "--shards", "8", "--count", "2", "--output", file("ring")});
  expect_refused({"explain", file("ring"), "--shard", "0", "--replicas", "3"},
                 "3 replicas need as many members; the ring has 2");
  expect_refused({"explain", file("ring"), "--shard", "8", "--replicas", "1"}, "the ring has shards 0 to 7");
  expect_refused({"explain", file("ring"), "--hash", "12z", "--replicas", "1"}, "not a 64-bit number");
}

TEST_F(Ring, BadFilesAreRefusedWithTheirName) {
  expect_refused({"explain", file("none"), "--shard", "0"}, "none: can not be opened");
  expect_refused({"explain", written("text", "hello"), "--shard", "0"}, "text: not JSON");
  expect_refused({"explain", written("list", "[]"), "--shard", "0"}, "list: 'strategy' must be a text");
  const std::string members = R"("members": [{"id": 0, "name": "a", "weight": 1}], )";
  const auto ring = [&](const std::string& slices) {
    return written("ring", R"({"strategy": "x", "shards": 4, )" + members + R"("slices": [)" + slices + "]}");
  };
  expect_refused({"explain", ring(R"({"first": 0, "end": 2, "owner": "a"})"), "--shard", "0"},
                 "slices end at shard 2");
  expect_refused({"explain", ring(R"({"first": 1, "end": 4, "owner": "a"})"), "--shard", "0"}, "see shard 0");
  expect_refused({"explain", ring(R"({"first": 0, "end": 4, "owner": "b"})"), "--shard", "0"},
                 "'b' is not a member");
  expect_refused({"explain", ring(R"({"first": 0, "end": 5, "owner": "a"})"), "--shard", "0"},
                 "too large: 5");
}

TEST_F(Ring, RingsThatWereComputedApartAreNotCompared) {
  run({"compute", "--shards", "8", "--member", "a", "--output", file("a")});
  run({"compute", "--shards", "8", "--member", "b", "--output", file("b")});
  expect_refused({"diff", file("a"), file("b")}, "do not belong together");
}

TEST_F(Ring, WrongUsageIsToldApartFromRefusal) {
  EXPECT_EQ(run({}).code, kWrongUsage);
  EXPECT_EQ(run({"frobnicate"}).code, kWrongUsage);
  EXPECT_EQ(run({"explain", "x"}).code, kWrongUsage);
  EXPECT_EQ(run({"analyze", "weather"}).code, kWrongUsage);
  EXPECT_EQ(run({"--help"}).code, kDone);
}

TEST_F(Ring, EveryAnalysisRuns) {
  for (const char* what : {"allocation", "handoff", "balance", "slices", "replicas"}) {
    const Answer answer = run({"analyze", what, "--draws", "10", "--seeds", "2", "--json"});
    EXPECT_EQ(answer.code, kDone) << what << answer.err;
    EXPECT_THAT(answer.out,
                HasSubstr(std::string("\"") + (std::string(what) == "slices" ? "history" : what) + "\": ["));
  }
  for (const char* workload : {"single-query", "production-like", "shifting"}) {
    const Answer answer =
        run({"analyze", "weighted-move", "--workload", workload, "--rounds", "3", "--plot", file("plot")});
    EXPECT_EQ(answer.code, kDone) << answer.err;
    EXPECT_THAT(text_of("plot"), HasSubstr("<polyline"));
  }
  expect_refused({"analyze", "weighted-move", "--workload", "calm"}, "there is no workload 'calm'");
}

TEST_F(Ring, CompareHasOneRowPerStrategy) {
  const Answer answer = run({"compare", "--shards", "64", "--members", "4", "--changes", "4"});
  EXPECT_EQ(answer.code, kDone);
  for (const char* name :
       {"slicing-coalescing", "token-ring", "riak-claim", "karger", "rendezvous", "jump", "weighted-move"}) {
    EXPECT_THAT(answer.out, HasSubstr(std::string("| ") + name));
  }
  expect_refused({"compare", "--shards", "4", "--members", "4"}, "more members than shards");
}

}  // namespace
}  // namespace tidemark
