// The test's end of its supervisor (supervisor_main.cc): one per process, started at first use.
//
// Everything here throws ServerError when it fails: a test has nothing better to do than to fail then.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/servers/supervisor_protocol.h"

namespace tidemark::servers {

class ServerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct User {
  uid_t uid;
  gid_t gid;
};

// Who runs this process.
User current_user();

// An unprivileged user, for servers that refuse to run as root: `postgres` or `nobody` if this process runs
// as root, else current_user().
User unprivileged_user();

struct Command {
  std::vector<std::string> argv;
  std::filesystem::path log;  // stdout and stderr are appended to it.
  std::filesystem::path working_directory;
  User user = current_user();
};

enum class Scope : bool { Process, Tree };

// Thread-safe.
class Supervisor {
 public:
  static Supervisor& instance();

  pid_t spawn(const Command& command);
  // Refused (ServerError) if the process has ended.
  void signal(pid_t pid, int number, Scope scope);
  // Nothing while it runs; then how it ended, for people: "exit code 1", "signal 9".
  std::optional<std::string> how_it_ended(pid_t pid);

  // `directory` is removed when this process is gone; its logs are kept under `name` if that was a crash.
  void watch(const std::filesystem::path& directory, const std::string& name);
  void forget(const std::filesystem::path& directory);

  // Where logs of failed tests are kept.
  const std::filesystem::path& kept_logs() const { return kept_logs_; }

 private:
  Supervisor();
  ~Supervisor();
  Fields ask(const Fields& request);

  std::mutex mutex_;
  int socket_ = -1;
  std::filesystem::path kept_logs_;
};

// A fresh directory, removed with its contents at the end. Reachable by every user, since some servers run as
// another one.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& name);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::string name_;
  std::filesystem::path path_;
};

}  // namespace tidemark::servers
