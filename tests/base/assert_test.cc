#include "base/assert.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace tidemark {
namespace {

TEST(AssertDeathTest, EndsTheProcessAndPrintsConditionAndValues) {
  const int committed = 5;
  const int sent = 3;
  TM_ASSERT(sent <= committed, sent, committed);
  EXPECT_DEATH(TM_ASSERT(committed <= sent, committed, sent),
               "assertion failed: committed <= sent; values: 5 3");
  EXPECT_DEATH(TM_UNREACHABLE(), "unreachable");
}

Status fail_if(bool fails) {
  if (fails) return Error{"it failed"};
  return {};
}

Result<int> seven_unless(bool fails) {
  TM_TRY(fail_if(fails));
  return 7;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*seven_unless(false), 7);
  EXPECT_EQ(seven_unless(true).error().message, "it failed");
}

TEST(ResultDeathTest, TheValueOfAnErrorIsABug) {
  EXPECT_DEATH(static_cast<void>(seven_unless(true).value()), "assertion failed");
}

}  // namespace
}  // namespace tidemark
