#include "base/process/shutdown.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace tidemark {
namespace {

TEST(ShutdownSignal, IsWaitedForWhileThreadsRun) {
  for (const int number : {SIGTERM, SIGINT}) {
    ShutdownSignal shutdown;
    std::thread sender([number] { kill(getpid(), number); });
    EXPECT_EQ(shutdown.wait(), number == SIGTERM ? "SIGTERM" : "SIGINT");
    sender.join();
  }
}

TEST(ShutdownSignal, ShowsAtItsDescriptor) {
  ShutdownSignal shutdown;
  pollfd watched{shutdown.descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&watched, 1, 0), 0);
  kill(getpid(), SIGTERM);
  EXPECT_EQ(poll(&watched, 1, -1), 1);
  shutdown.wait();
}

TEST(ShutdownSignal, TheSecondOneEndsTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    ShutdownSignal shutdown;
    kill(getpid(), SIGTERM);
    shutdown.wait();
    kill(getpid(), SIGTERM);
    _exit(0);
  }
  int how = 0;
  waitpid(child, &how, 0);
  EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM) << how;
}

}  // namespace
}  // namespace tidemark
