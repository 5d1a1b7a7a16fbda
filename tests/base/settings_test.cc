#include "base/process/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() {
    settings_.add("node.listen", listen_, "address that clients connect to");
    settings_.add("node.port", port_, "port");
    settings_.add("node.tick", tick_, "how often to look");
    settings_.add("cache.size", size_, "memory for rows");
    settings_.add("cache.fill", fill_, "how full it may be");
    settings_.add("cache.on", on_, "whether there is one");
    settings_.add("zookeeper", zookeeper_, "addresses");
  }
  ~SettingsTest() override { std::filesystem::remove(file_); }

  Result<Settings::Arguments> parse(std::initializer_list<const char*> flags) {
    std::vector<const char*> argv{"tidemark"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return settings_.parse(static_cast<int>(argv.size()), argv.data());
  }
  // Why the flags were refused; empty if they were not.
  std::string refusal(std::initializer_list<const char*> flags) {
    const auto arguments = parse(flags);
    return arguments ? "" : arguments.error().message;
  }
  std::string refusal_of_file(const std::string& text) {
    write(text);
    const Status status = settings_.load_file(file_);
    return status ? "" : status.error().message;
  }
  void write(const std::string& text) { std::ofstream(file_) << text; }

  std::string listen_ = "127.0.0.1";
  uint16_t port_ = 7000;
  Micros tick_{250'000};
  ByteSize size_{64'000'000};
  double fill_ = 0.75;
  bool on_ = true;
  std::vector<std::string> zookeeper_{"a:1"};
  Settings settings_;
  std::string file_ = ::testing::TempDir() + "settings_test." + std::to_string(getpid()) + ".toml";
};

TEST_F(SettingsTest, DefaultsStayWithoutFileAndFlags) {
  ASSERT_TRUE(parse({}).ok());
  EXPECT_EQ(listen_, "127.0.0.1");
  EXPECT_EQ(port_, 7000);
}

TEST_F(SettingsTest, AFileSetsEveryKind) {
  EXPECT_EQ(refusal_of_file("zookeeper = ['x:1', 'y:2']\n"
                            "[node]\nlisten = '0.0.0.0'\nport = 7001\ntick = '2s'\n"
                            "[cache]\nsize = '1GiB'\nfill = 0.5\non = false\n"),
            "");
  EXPECT_EQ(listen_, "0.0.0.0");
  EXPECT_EQ(port_, 7001);
  EXPECT_EQ(tick_, Micros{2'000'000});
  EXPECT_EQ(size_, ByteSize{1ULL << 30});
  EXPECT_EQ(fill_, 0.5);
  EXPECT_FALSE(on_);
  EXPECT_THAT(zookeeper_, ElementsAre("x:1", "y:2"));
}

TEST_F(SettingsTest, FlagsSetEveryKindInBothForms) {
  EXPECT_EQ(refusal({"--node.listen", "h", "--node.port=7002", "--node.tick=5ms", "--cache.size", "128",
                     "--cache.fill=1", "--cache.on=false", "--zookeeper", "x:1,y:2"}),
            "");
  EXPECT_EQ(listen_, "h");
  EXPECT_EQ(port_, 7002);
  EXPECT_EQ(tick_, Micros{5'000});
  EXPECT_EQ(size_, ByteSize{128});
  EXPECT_EQ(fill_, 1.0);
  EXPECT_FALSE(on_);
  EXPECT_THAT(zookeeper_, ElementsAre("x:1", "y:2"));
  EXPECT_EQ(refusal({"--cache.on"}), "");
  EXPECT_TRUE(on_);
}

TEST_F(SettingsTest, FlagsOverrideTheFileWhereverTheyStand) {
  write("[node]\nport = 7001\nlisten = 'file'\n");
  ASSERT_EQ(refusal({"--node.port", "7002", "--config", file_.c_str()}), "");
  EXPECT_EQ(port_, 7002);
  EXPECT_EQ(listen_, "file");
}

TEST_F(SettingsTest, UnknownNamesAreRefusedWithTheNearestKnownOne) {
  EXPECT_EQ(refusal({"--node.prot", "1"}), "there is no flag '--node.prot' (did you mean 'node.port'?)");
  EXPECT_EQ(refusal({"--quux=1"}), "there is no flag '--quux'");
  EXPECT_EQ(refusal_of_file("[node]\nport = 1\nlitsen = 'x'\n"),
            file_ + ":3: there is no setting 'node.litsen' (did you mean 'node.listen'?)");
}

TEST_F(SettingsTest, ValuesOfAnotherTypeOrOutOfRangeAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal({"--node.port", "70000"}), "--node.port: '70000' is more than 65535");
  EXPECT_EQ(refusal({"--node.port", "-1"}), "--node.port: '-1' is not a whole number, 0 or more");
  EXPECT_EQ(refusal({"--node.port"}), "--node.port needs a value");
  EXPECT_EQ(refusal({"--cache.on=maybe"}), "--cache.on: 'maybe' is not true or false");
  EXPECT_THAT(refusal({"--cache.fill=nan"}), HasSubstr("not finite"));
  EXPECT_THAT(refusal({"--node.tick=5"}), HasSubstr("such as 250ms"));
  EXPECT_EQ(refusal_of_file("[node]\nport = '7000'\n"), file_ + ":2: node.port must be a whole number");
  EXPECT_EQ(refusal_of_file("[node]\ntick = 250\n"),
            file_ + ":2: node.tick must be a string such as \"250ms\"");
  EXPECT_EQ(refusal_of_file("zookeeper = [1]\n"), file_ + ":1: zookeeper must be an array of strings");
  EXPECT_EQ(port_, 7000);
}

TEST_F(SettingsTest, AFileThatIsNoTomlIsRefusedWithTheLine) {
  EXPECT_THAT(refusal_of_file("[node]\nport = = 3\n"), HasSubstr(file_ + ":2: "));
  EXPECT_EQ(settings_.load_file("/no/such/file").error().message, "/no/such/file: can't be read");
}

TEST_F(SettingsTest, WhatIsNoFlagIsPositional) {
  const auto arguments = parse({"status", "--cache.on", "-", "--", "--node.port"});
  ASSERT_TRUE(arguments.ok());
  EXPECT_THAT(arguments->positional, ElementsAre("status", "-", "--node.port"));
}

TEST_F(SettingsTest, HelpNamesEverySettingWithItsDefault) {
  EXPECT_TRUE(parse({"--help"})->help);
  const std::string text = settings_.help_text();
  EXPECT_THAT(text, HasSubstr("--node.tick  [250ms]\n      how often to look\n"));
  EXPECT_THAT(text, HasSubstr("--cache.size  [64MB]\n"));
  EXPECT_THAT(text, HasSubstr("--config <file>"));
}

TEST(Units, WhatIsShownIsReadBack) {
  for (const int64_t micros : {0LL, 1LL, 999LL, 1000LL, 60'000'000LL, 90'000'000LL, 3'600'000'000LL}) {
    EXPECT_EQ(*parse_duration(show_duration(Micros{micros})), Micros{micros});
  }
  for (const uint64_t bytes : {0ULL, 1ULL, 1024ULL, 1000ULL, 64'000'000ULL, 1ULL << 30, (1ULL << 30) + 1}) {
    EXPECT_EQ(*parse_size(show_size(ByteSize{bytes})), ByteSize{bytes});
  }
  EXPECT_EQ(show_duration(Micros{90'000'000}), "90s");
  EXPECT_EQ(show_size(ByteSize{1ULL << 20}), "1MiB");
}

TEST(Units, NonsenseIsRefused) {
  for (const char* text : {"", "ms", "1", "1.5s", "-1s", "1 s", "99999999999999999999s", "9999999999999h"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
  for (const char* text : {"", "MB", "-1", "1mb", "99999999999GiB"})
    EXPECT_FALSE(parse_size(text).ok()) << text;
}

TEST_F(SettingsTest, AnExampleFileNamesEverySettingAndChangesNothing) {
  const std::string example = settings_.example_file();
  for (const char* line :
       {"# addresses\nzookeeper = [\"a:1\"]\n", "[node]\n", "listen = \"127.0.0.1\"\n", "port = 7000\n",
        "tick = \"250ms\"\n", "[cache]\n", "size = \"64MB\"\n", "fill = 0.75\n", "on = true\n"})
    EXPECT_THAT(example, HasSubstr(line));
  EXPECT_EQ(refusal_of_file(example), "");
  EXPECT_EQ(settings_.example_file(), example);
  EXPECT_EQ(size_.value, 64'000'000u);
  ASSERT_TRUE(parse({"--print-config"}).ok());
  EXPECT_TRUE(parse({"--print-config"})->print_config);
}

}  // namespace
}  // namespace tidemark
