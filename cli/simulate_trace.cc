#include "cli/simulate_trace.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/assert.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// A thousand times what a seed's trace takes: one that goes in circles must not fill the disk.
constexpr rlim_t kTraceBytesMax = 1 << 30;

// What the process that writes a trace returns.
enum TracedExit : int { kPassed = 0, kFailedAgain = 1, kNotWritten = 2 };

std::string second_of(const std::string& file) {
  return file + ".2";
}

// Where the process's own last words go: an assertion that fails ends the trace that led to it.
enum class LastWords { OnStderr, InTrace };

// Opened at its first line.
class TraceFile {
 public:
  TraceFile(std::string path, LastWords last_words) : path_(std::move(path)), last_words_(last_words) {}
  ~TraceFile() {
    if (file_ != nullptr && file_ != stderr) std::fclose(file_);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void write(const std::string& line) {
    if (file_ == nullptr) open();
    if (file_ != nullptr) std::fprintf(file_, "%s\n", line.c_str());
  }
  sim::Trace::Sink sink() {
    return [this](const std::string& line) { write(line); };
  }

 private:
  void open() {
    file_ = last_words_ == LastWords::InTrace ? std::freopen(path_.c_str(), "w", stderr)
                                              : std::fopen(path_.c_str(), "w");
    // Each line at once, those of an assertion too: what ends the run writes nothing that is left.
    if (file_ != nullptr) std::setvbuf(file_, nullptr, _IOLBF, BUFSIZ);
  }

  std::string path_;
  LastWords last_words_;
  std::FILE* file_ = nullptr;
};

// Removes what an earlier run has left there.
Status begin_trace(const std::string& file) {
  std::error_code ignored;
  fs::remove(second_of(file), ignored);
  if (!std::ofstream(file)) return Error{"can not write " + file};
  return {};
}

bool ended_differently(const sim::RunReport& report) {
  return !report.findings.empty() && report.findings.back().property == "determinism";
}

Result<sim::RunReport> run_traced(const CampaignOptions& options, uint64_t seed, const std::string& file,
                                  LastWords last_words) {
  TM_TRY(begin_trace(file));
  TraceFile first(file, last_words), second(second_of(file), last_words);
  sim::RunReport report = run_seed(options, seed, first.sink(), second.sink());
  std::error_code ignored;
  if (!ended_differently(report)) fs::remove(second_of(file), ignored);
  return report;
}

// In a process of its own, which nothing thrown may leave for the parent's code.
[[noreturn]] void write_trace(const CampaignOptions& options, uint64_t seed,
                              const std::string& file) noexcept {
  ::alarm(options.seed_seconds_max);
  const rlimit bytes_max{kTraceBytesMax, kTraceBytesMax};
  ::setrlimit(RLIMIT_FSIZE, &bytes_max);
  const Result<sim::RunReport> report = run_traced(options, seed, file, LastWords::InTrace);
  ::_exit(!report.ok() ? kNotWritten : report->findings.empty() ? kPassed : kFailedAgain);
}

int exit_status(pid_t process) {
  int status = 0;
  TM_ASSERT(::waitpid(process, &status, 0) == process);
  return status;
}

}  // namespace

std::string trace_path(const CampaignOptions& options, const std::string& directory, uint64_t seed) {
  const std::string scenario = options.scenario == "swarm" ? "" : options.scenario + "-";
  return (fs::path(directory) / (scenario + "seed" + std::to_string(seed) + ".trace"))
      .lexically_normal()
      .string();
}

Result<sim::RunReport> run_traced(const CampaignOptions& options, uint64_t seed, const std::string& file) {
  return run_traced(options, seed, file, LastWords::OnStderr);
}

std::string describe_difference(const std::string& file) {
  std::ifstream first(file), second(second_of(file));
  if (!second) return "";
  const std::string both = "  " + file + " and " + second_of(file);
  std::string one, other;
  for (uint64_t number = 1;; ++number) {
    const bool has_one = !!std::getline(first, one), has_other = !!std::getline(second, other);
    if (!has_one && !has_other) return both + " have the same lines\n";
    if (has_one && has_other && one == other) continue;
    return both + " differ first in line " + std::to_string(number) + ":\n    " +
           (has_one ? one : "(the first ends)") + "\n    " + (has_other ? other : "(the second ends)") + "\n";
  }
}

std::string FailureTraces::write(uint64_t seed) {
  if (directory_.empty() || count_ == kCountMax) return "";
  ++count_;
  const std::string file = trace_path(options_, directory_, seed);
  std::fflush(nullptr);
  const pid_t process = ::fork();
  TM_ASSERT(process >= 0);
  if (process == 0) write_trace(options_, seed, file);
  const int status = exit_status(process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotWritten)
    return "  no trace: can not write " + file + "\n";
  const bool passed = WIFEXITED(status) && WEXITSTATUS(status) == kPassed;
  return describe_difference(file) + "  trace: " + file + (passed ? ", of a run that did not fail\n" : "\n");
}

}  // namespace tidemark
