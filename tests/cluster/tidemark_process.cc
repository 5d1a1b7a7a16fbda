#include "tests/cluster/tidemark_process.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace tidemark::crash {
namespace {

std::string read_from(const std::filesystem::path& path, uintmax_t offset) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool says_ready(const std::string& text) {
  return text.starts_with("ready") || text.find("\nready") != std::string::npos;
}

servers::Command command_of(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  servers::Command command{.argv = {tidemark_program()}, .log = log, .working_directory = log.parent_path()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

std::string tidemark_program() {
  const char* chosen = std::getenv("TIDEMARK");
  return chosen != nullptr ? chosen : TM_TIDEMARK_PATH;
}

TidemarkProcess::TidemarkProcess(std::string name, std::vector<std::string> arguments,
                                 std::filesystem::path log)
    : log_(log),
      server_(std::move(name), command_of(arguments, log), [this] { return says_ready(said()); }) {}

void TidemarkProcess::launch() {
  std::error_code absent;
  const uintmax_t size = std::filesystem::file_size(log_, absent);
  log_begins_ = absent ? 0 : size;
  server_.launch();
}

void TidemarkProcess::start() {
  launch();
  wait_until_ready();
}

void TidemarkProcess::kill() {
  server_.kill();
  paused_ = false;
}

void TidemarkProcess::pause() {
  server_.pause();
  paused_ = true;
}

void TidemarkProcess::resume() {
  server_.resume();
  paused_ = false;
}

std::string TidemarkProcess::said() const {
  return read_from(log_, log_begins_);
}

uint64_t TidemarkProcess::memory_peak() const {
  std::ifstream status("/proc/" + std::to_string(pid()) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  throw servers::ServerError(name() + " has no memory: it does not run");
}

ProgramEnd run_tidemark(const std::vector<std::string>& arguments, const std::filesystem::path& directory) {
  static std::atomic<uint64_t> runs{0};
  const std::filesystem::path output = directory / ("run-" + std::to_string(++runs) + ".out");
  auto& supervisor = servers::Supervisor::instance();
  const pid_t pid = supervisor.spawn(command_of(arguments, output));
  std::optional<std::string> end;
  servers::wait_until("tidemark " + arguments.front() + " ends", [&] {
    end = supervisor.how_it_ended(pid);
    return end.has_value();
  });
  ProgramEnd out;
  if (end->starts_with("exit code ")) out.exit_code = std::stoi(end->substr(10));
  out.said = read_from(output, 0);
  std::filesystem::remove(output);
  return out;
}

}  // namespace tidemark::crash
