#include "tests/cluster/key_log.h"

#include <gtest/gtest.h>

namespace tidemark::crash {
namespace {

using Rows = std::map<std::string, std::string>;

size_t wrong(const KeyLog& log, Rows rows) {
  return log.check("table", rows).size();
}

TEST(KeyLog, WhatWasAcknowledgedMustBeThere) {
  KeyLog log;
  log.note("k", "1", Fate::Done);
  log.note("k", "2", Fate::Done);
  EXPECT_EQ(wrong(log, {{"k", "2"}}), 0u);
  EXPECT_EQ(wrong(log, {{"k", "1"}}), 1u);
  EXPECT_EQ(wrong(log, {}), 1u);
  log.note("k", std::nullopt, Fate::Done);
  EXPECT_EQ(wrong(log, {{"k", "2"}}), 1u);
  EXPECT_EQ(wrong(log, {}), 0u);
}

TEST(KeyLog, WhatWasRefusedMustNot) {
  KeyLog log;
  log.note("k", "1", Fate::NotDone);
  EXPECT_EQ(wrong(log, {}), 0u);
  EXPECT_EQ(wrong(log, {{"k", "1"}}), 1u);
}

TEST(KeyLog, WhatIsUnknownMayBeAndIsNotWrittenAgain) {
  KeyLog log;
  log.note("k", "1", Fate::Done);
  EXPECT_TRUE(log.may_write("k"));
  log.note("k", "2", Fate::Unknown);
  EXPECT_FALSE(log.may_write("k"));
  EXPECT_EQ(wrong(log, {{"k", "1"}}), 0u);
  EXPECT_EQ(wrong(log, {{"k", "2"}}), 0u);
  EXPECT_EQ(wrong(log, {{"k", "3"}}), 1u);
  EXPECT_EQ(wrong(log, {}), 1u);
}

TEST(KeyLog, TakesWhatItKnowsAndLeavesTheRest) {
  KeyLog log;
  log.note("k", "1", Fate::Done);
  Rows rows{{"k", "1"}, {"of another", "2"}};
  EXPECT_TRUE(log.check("table", rows).empty());
  EXPECT_EQ(rows, (Rows{{"of another", "2"}}));
}

}  // namespace
}  // namespace tidemark::crash
