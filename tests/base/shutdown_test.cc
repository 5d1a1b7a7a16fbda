#include "base/process/shutdown.h"

#include <gtest/gtest.h>
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

TEST(ShutdownSignal, EndsTheWaitForSomethingElse) {
  ShutdownSignal shutdown;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(shutdown.comes_before(pipe_ends[0]));
  EXPECT_EQ(shutdown.wait(), "SIGTERM");
  for (int end : pipe_ends) close(end);
}

TEST(ShutdownSignal, DoesNotEndTheWaitBeforeItComes) {
  ShutdownSignal shutdown;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
  EXPECT_FALSE(shutdown.comes_before(pipe_ends[0]));
  for (int end : pipe_ends) close(end);
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
