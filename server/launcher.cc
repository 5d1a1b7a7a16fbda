#include "server/launcher.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <thread>

extern char** environ;

namespace tidemark {

namespace {

void run(const std::string& command, const std::string& identity, const Logger& log) {
  std::string script = command + " \"$0\"";
  std::string shell = "sh", flag = "-c", name = identity;
  char* arguments[] = {shell.data(), flag.data(), script.data(), name.data(), nullptr};
  pid_t pid = 0;
  if (int failed = posix_spawn(&pid, "/bin/sh", nullptr, nullptr, arguments, environ); failed != 0) {
    log.error("the launcher could not be run", kv("identity", identity), kv("reason", std::strerror(failed)));
    return;
  }
  log.info("the launcher runs", kv("identity", identity), kv("pid", pid));
  std::thread([pid, identity, log] {
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) log.warning("the launcher failed", kv("identity", identity), kv("status", status));
  }).detach();
}

}  // namespace

std::function<void(const std::string&)> command_launcher(const std::string& command, const Logger& log) {
  if (command.empty()) return {};
  return [command, log](const std::string& identity) { run(command, identity, log); };
}

}  // namespace tidemark
