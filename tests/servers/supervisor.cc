#include "tests/servers/supervisor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "tests/servers/logs.h"

namespace tidemark::servers {
namespace {

constexpr int kSupervisorSocket = 3;

// Runs the supervisor with `socket` as its only descriptor beside the standard ones. Other threads may run:
// between fork and exec only async-signal-safe calls.
void start_supervisor(int socket) {
  const std::string socket_argument = std::to_string(kSupervisorSocket);
  const std::string test_argument = std::to_string(getpid());
  const char* argv[] = {TM_SUPERVISOR_PATH, socket_argument.c_str(), test_argument.c_str(), nullptr};
  const pid_t child = fork();
  if (child < 0) throw ServerError(std::string("fork: ") + std::strerror(errno));
  if (child > 0) return;
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(socket, kSupervisorSocket);
  // By number: Debian 12's libc has close_range(), older kernels may not; the leak is then harmless.
  syscall(SYS_close_range, kSupervisorSocket + 1, ~0U, 0);
  execv(TM_SUPERVISOR_PATH, const_cast<char**>(argv));
  _exit(127);
}

std::string name_of_running_test() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return test == nullptr ? "" : std::string(test->test_suite_name()) + "." + test->name() + "-";
}

}  // namespace

User current_user() {
  return {geteuid(), getegid()};
}

User unprivileged_user() {
  if (geteuid() != 0) return current_user();
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* entry = getpwnam(name)) return {entry->pw_uid, entry->pw_gid};
  }
  throw ServerError("there is no unprivileged user (postgres or nobody) on this machine");
}

Supervisor& Supervisor::instance() {
  static Supervisor supervisor;
  return supervisor;
}

Supervisor::Supervisor() {
  const char* kept = std::getenv("TIDEMARK_TEST_LOGS");
  kept_logs_ =
      kept != nullptr ? std::filesystem::path(kept) : std::filesystem::current_path() / "server-logs";
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw ServerError(std::string("socketpair: ") + std::strerror(errno));
  }
  socket_ = ends[0];
  start_supervisor(ends[1]);
  close(ends[1]);
  ask({"keep-logs", kept_logs_.string()});
}

Supervisor::~Supervisor() {
  // An orderly end. Whatever still runs is ended by the supervisor.
  send_fields(socket_, {"done"});
  receive_fields(socket_);
  close(socket_);
}

Fields Supervisor::ask(const Fields& request) {
  const std::lock_guard lock(mutex_);
  if (!send_fields(socket_, request)) throw ServerError("the supervisor of test servers is gone");
  auto answer = receive_fields(socket_);
  if (!answer || answer->empty()) throw ServerError("the supervisor of test servers is gone");
  if (answer->front() == "error") throw ServerError(request.front() + ": " + answer->back());
  return *std::move(answer);
}

pid_t Supervisor::spawn(const Command& command) {
  Fields request{"spawn", command.log.string(), command.working_directory.string(),
                 std::to_string(command.user.uid), std::to_string(command.user.gid)};
  request.insert(request.end(), command.argv.begin(), command.argv.end());
  return static_cast<pid_t>(std::stol(ask(request).at(1)));
}

void Supervisor::signal(pid_t pid, int number, Scope scope) {
  ask({"signal", std::to_string(pid), std::to_string(number), scope == Scope::Tree ? "tree" : "process"});
}

std::optional<std::string> Supervisor::how_it_ended(pid_t pid) {
  const Fields answer = ask({"status", std::to_string(pid)});
  if (answer.front() == "running") return std::nullopt;
  return (answer.front() == "exited" ? "exit code " : "signal ") + answer.at(1);
}

void Supervisor::watch(const std::filesystem::path& directory, const std::string& name) {
  ask({"watch", directory.string(), name});
}

void Supervisor::forget(const std::filesystem::path& directory) {
  ask({"forget", directory.string()});
}

TemporaryDirectory::TemporaryDirectory(const std::string& name)
    : name_(name_of_running_test() + name + "-" + std::to_string(getpid())) {
  std::string pattern = (std::filesystem::temp_directory_path() / ("tidemark-" + name + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) throw ServerError(pattern + ": " + std::strerror(errno));
  path_ = pattern;
  Supervisor::instance().watch(path_, name_);
  chmod(path_.c_str(), 0755);
}

TemporaryDirectory::~TemporaryDirectory() {
  // Failed(): also of earlier tests, since a server may be shared by the tests of a program. An exception on
  // its way to GoogleTest is a failure that it does not know of yet.
  auto& supervisor = Supervisor::instance();
  const bool failed = ::testing::UnitTest::GetInstance()->Failed() || std::uncaught_exceptions() > 0;
  if (failed) keep_logs(path_, supervisor.kept_logs(), name_);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  try {
    supervisor.forget(path_);
  } catch (const ServerError&) {
    // It is gone, and nothing is left to forget.
  }
}

}  // namespace tidemark::servers
