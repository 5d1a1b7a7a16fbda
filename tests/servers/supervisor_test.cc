// The promise that nothing is left behind, whatever happens to the test.
#include "tests/servers/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "tests/servers/process_tree.h"
#include "tests/servers/server.h"

namespace tidemark::servers {
namespace {

// A server with a process of its own below it, which ignores hints to end, as the worst of them do.
Command stubborn_server(const std::filesystem::path& directory) {
  return {.argv = {"sh", "-c", "trap '' TERM INT HUP; (trap '' TERM; setsid sleep 600) & echo up; wait"},
          .log = directory / "stubborn.log",
          .working_directory = directory};
}

bool is_alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  return line.at(line.rfind(')') + 2) != 'Z';
}

bool says_up(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string line;
  return static_cast<bool>(std::getline(file, line)) && line == "up";
}

// What a test process had running when it was about to end.
struct Left {
  pid_t server;
  pid_t grandchild;
  char directory[200];
};

// Forks a process that starts a stubborn server as a test would, tells us what it started, and then does
// `end`.
Left run_test_that(const std::function<void()>& end, bool wait_for_signal) {
  int report[2];
  EXPECT_EQ(pipe(report), 0);
  const pid_t test = fork();
  if (test == 0) {
    setenv("TIDEMARK_TEST_LOGS", "supervisor-test-logs", 1);
    TemporaryDirectory* directory = new TemporaryDirectory("stubborn");
    Server* server = new Server("stubborn", stubborn_server(directory->path()),
                                [=] { return says_up(directory->path() / "stubborn.log"); });
    server->start();
    Left left{};
    left.server = server->pid();
    wait_until("the grandchild runs", [&] { return !descendants_of(server->pid()).empty(); });
    left.grandchild = descendants_of(server->pid()).back();
    std::strncpy(left.directory, directory->path().c_str(), sizeof left.directory - 1);
    if (write(report[1], &left, sizeof left) != sizeof left) _exit(1);
    end();
    pause();
  }
  Left left{};
  EXPECT_EQ(read(report[0], &left, sizeof left), static_cast<ssize_t>(sizeof left));
  close(report[0]);
  close(report[1]);
  if (wait_for_signal) kill(test, SIGKILL);
  waitpid(test, nullptr, 0);
  return left;
}

void expect_nothing_left(const Left& left) {
  EXPECT_GT(left.server, 0);
  wait_until("all is gone", [&] {
    return !is_alive(left.server) && !is_alive(left.grandchild) && !std::filesystem::exists(left.directory);
  });
}

TEST(Supervisor, LeavesNothingWhenTheTestIsKilled) {
  expect_nothing_left(run_test_that([] {}, true));
}

TEST(Supervisor, LeavesNothingWhenTheTestAborts) {
  expect_nothing_left(run_test_that([] { std::abort(); }, false));
}

TEST(Supervisor, LeavesNothingWhenTheTestExits) {
  expect_nothing_left(run_test_that([] { std::exit(0); }, false));
}

TEST(Supervisor, KeepsTheLogsOfATestThatCrashed) {
  std::filesystem::remove_all("supervisor-test-logs");
  expect_nothing_left(run_test_that([] { std::abort(); }, false));
  bool kept = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("supervisor-test-logs")) {
    kept = kept || entry.path().filename() == "stubborn.log";
  }
  EXPECT_TRUE(kept);
}

TEST(Supervisor, ServersOutliveTheThreadThatStartedThem) {
  TemporaryDirectory directory("stubborn");
  Server server("stubborn", stubborn_server(directory.path()),
                [&] { return says_up(directory.path() / "stubborn.log"); });
  std::thread([&] { server.start(); }).join();
  EXPECT_TRUE(server.running());
}

TEST(Supervisor, SaysWhyAProgramCouldNotBeStarted) {
  TemporaryDirectory directory("none");
  try {
    Supervisor::instance().spawn({.argv = {"/no/such/program"},
                                  .log = directory.path() / "x.log",
                                  .working_directory = directory.path()});
    FAIL() << "it was started";
  } catch (const ServerError& error) {
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
}

TEST(Server, ThatEndsInsteadOfAnsweringIsReportedWithItsLog) {
  TemporaryDirectory directory("short");
  Server server("short",
                {.argv = {"sh", "-c", "echo no disk; exit 3"},
                 .log = directory.path() / "short.log",
                 .working_directory = directory.path()},
                [] { return false; });
  try {
    server.start();
    FAIL() << "it answered";
  } catch (const ServerError& error) {
    EXPECT_NE(std::string(error.what()).find("exit code 3"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("no disk"), std::string::npos) << error.what();
  }
}

TEST(Server, KillTakesTheProcessesBelowItAlong) {
  TemporaryDirectory directory("stubborn");
  Server server("stubborn", stubborn_server(directory.path()),
                [&] { return says_up(directory.path() / "stubborn.log"); });
  server.start();
  wait_until("the grandchild runs", [&] { return !descendants_of(server.pid()).empty(); });
  const auto below = descendants_of(server.pid());
  server.kill();
  for (pid_t pid : below) wait_until("it is gone", [&] { return !is_alive(pid); });
  EXPECT_FALSE(server.running());
}

}  // namespace
}  // namespace tidemark::servers
