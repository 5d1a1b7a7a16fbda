// One process of Tidemark, under the supervisor of the test's servers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/servers/server.h"

namespace tidemark::crash {

// The program under test.
std::string tidemark_program();

// Ready when it has said so on stdout. Members throw ServerError. Not thread-safe.
class TidemarkProcess {
 public:
  TidemarkProcess(std::string name, std::vector<std::string> arguments, std::filesystem::path log);

  void launch();
  void wait_until_ready() { server_.wait_until_ready(); }
  void start();
  void stop() { server_.stop(); }
  void kill();
  void pause();
  void resume();

  bool running() { return server_.running(); }
  bool answers() { return running() && !paused_; }
  pid_t pid() const { return server_.pid(); }
  const std::string& name() const { return server_.name(); }
  // What it has written since it was launched last.
  std::string said() const;
  // Peak resident memory since it was launched, in bytes. REQUIRES: it runs.
  uint64_t memory_peak() const;

 private:
  const std::filesystem::path log_;
  uintmax_t log_begins_ = 0;
  bool paused_ = false;
  servers::Server server_;
};

struct ProgramEnd {
  int exit_code = -1;
  std::string said;  // On stdout and stderr.
};

// Runs `tidemark ARGUMENTS` to its end. Throws ServerError if it takes longer than a minute and a half.
ProgramEnd run_tidemark(const std::vector<std::string>& arguments, const std::filesystem::path& directory);

}  // namespace tidemark::crash
