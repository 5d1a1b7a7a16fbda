#include <gtest/gtest.h>
#include <sys/resource.h>

#include "cli/process_settings.h"

namespace tidemark {
namespace {

TEST(Process, MayOpenAsManyFilesAsTheSystemGrants) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const auto process = Process::start({}, "test");
  ASSERT_TRUE(process.ok()) << process.error().message;
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
}

}  // namespace
}  // namespace tidemark
