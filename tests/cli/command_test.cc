#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace tidemark {
namespace {

using ::testing::HasSubstr;

int last_argc = 0;
std::string last_name;

constexpr CliCommand kCommands[] = {
    {"ring", "shows a ring",
     [](int argc, char** argv) {
       last_argc = argc;
       last_name = argv[0];
       return 7;
     }},
    {"simulate", "runs a simulation", [](int, char**) { return 0; }},
};

struct Answer {
  int code;
  std::string out;
  std::string err;
};

Answer run(std::initializer_list<const char*> arguments) {
  std::vector<std::string> strings{"tidemark"};
  strings.insert(strings.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& string : strings) argv.push_back(string.data());
  argv.push_back(nullptr);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = dispatch(kCommands, static_cast<int>(strings.size()), argv.data());
  std::string out = ::testing::internal::GetCapturedStdout();
  return {code, std::move(out), ::testing::internal::GetCapturedStderr()};
}

TEST(Cli, RunsTheNamedCommandWithItsArgumentsAndReturnsItsCode) {
  EXPECT_EQ(run({"ring", "--members", "3"}).code, 7);
  EXPECT_EQ(last_argc, 3);
  EXPECT_EQ(last_name, "ring");
}

TEST(Cli, HelpNamesEveryCommandAndIsNoError) {
  const Answer answer = run({"--help"});
  EXPECT_EQ(answer.code, kDone);
  EXPECT_THAT(answer.out, HasSubstr("  ring      shows a ring\n"));
  EXPECT_THAT(answer.out, HasSubstr("  simulate  runs a simulation\n"));
  EXPECT_EQ(answer.err, "");
}

TEST(Cli, NoCommandIsWrongUsage) {
  const Answer answer = run({});
  EXPECT_EQ(answer.code, kWrongUsage);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("usage:"));
}

TEST(Cli, UnknownCommandIsWrongUsageAndTheNearestIsSuggested) {
  const Answer answer = run({"simluate"});
  EXPECT_EQ(answer.code, kWrongUsage);
  EXPECT_THAT(answer.err, HasSubstr("did you mean 'simulate'?"));
  EXPECT_THAT(run({"frobnicate"}).err, Not(HasSubstr("did you mean")));
}

TEST(Cli, VersionIsOneLine) {
  const Answer answer = run({"--version"});
  EXPECT_EQ(answer.code, kDone);
  EXPECT_THAT(answer.out, ::testing::MatchesRegex("tidemark [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace tidemark
