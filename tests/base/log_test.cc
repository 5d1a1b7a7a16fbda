#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/process/log_sink.h"
#include "base/types.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Transcript : public LogSink {
 public:
  explicit Transcript(LogLevel least) : least_(least) {}
  bool wants(LogLevel level) const override { return level >= least_; }
  void write(LogLevel level, std::string_view component, std::string_view text) override {
    lines.push_back(std::string(name_of(level)) + " " + std::string(component) + ": " + std::string(text));
  }
  std::vector<std::string> lines;

 private:
  LogLevel least_;
};

TEST(Log, FieldsFollowTheMessageAsKeyAndValue) {
  Transcript transcript(LogLevel::Debug);
  const Logger log(transcript, "node");
  log.info("opened a region", kv("region", RegionId{7}), kv("fenced", true), kv("rows", 12));
  EXPECT_THAT(transcript.lines, ElementsAre("info node: opened a region region=7 fenced=true rows=12"));
}

TEST(Log, ValuesThatAreNotOneWordAreQuotedSoThatALineStaysALine) {
  Transcript transcript(LogLevel::Debug);
  const Logger log(transcript, "sql");
  log.error("refused", kv("query", "SELECT \"a\"\n=1\t"), kv("empty", ""), kv("name", "Zoë"));
  EXPECT_THAT(transcript.lines,
              ElementsAre(R"(error sql: refused query="SELECT \"a\"\n=1\x09" empty="" name=Zoë)"));
}

struct Counted {
  int* printed;
  friend std::ostream& operator<<(std::ostream& out, const Counted& it) {
    ++*it.printed;
    return out << "x";
  }
};

TEST(Log, FieldsOfUnwantedLinesAreNeverFormatted) {
  Transcript transcript(LogLevel::Warning);
  const Logger log(transcript, "node");
  int printed = 0;
  log.info("unwanted", kv("field", Counted{&printed}));
  EXPECT_EQ(printed, 0);
  log.warning("wanted", kv("field", Counted{&printed}));
  EXPECT_EQ(printed, 1);
  EXPECT_EQ(transcript.lines.size(), 1u);
}

TEST(Log, WithoutASinkNothingIsWritten) {
  const Logger log;
  log.error("nobody reads this", kv("x", 1));
}

TEST(LogSink, LinesAreWholeWhenManyThreadsWrite) {
  const std::string path = ::testing::TempDir() + "log_test." + std::to_string(getpid());
  {
    auto sink = open_log_sink({.level = "info", .file = path});
    ASSERT_TRUE(sink.ok());
    const Logger log(**sink, "test");
    log.debug("below the level");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < 100; ++i) log.info("a line", kv("thread", t), kv("i", i));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::ifstream file(path);
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    EXPECT_THAT(line, MatchesRegex("....-..-..T..:..:......Z info test: a line thread=[0-3] i=[0-9]+"));
  }
  EXPECT_EQ(lines, 400);
  std::filesystem::remove(path);
}

TEST(LogSink, RefusesAnUnknownLevelAndAFileThatCanNotBeOpened) {
  EXPECT_THAT(open_log_sink({.level = "inof", .file = ""}).error().message,
              HasSubstr("did you mean 'info'?"));
  EXPECT_THAT(open_log_sink({.level = "info", .file = "/proc/no/such/file"}).error().message,
              HasSubstr("/proc/no/such/file"));
}

}  // namespace
}  // namespace tidemark
