#include "bench/orders/process_figures.h"

#include <pthread.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

namespace tidemark::bench {

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// A line of /proc/self/status such as "VmRSS:  1234 kB", in bytes.
uint64_t status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::stoull(line.substr(name.size() + 1)) << 10;
  }
  return 0;
}

}  // namespace

ProcessFigures process_figures() {
  ProcessFigures out;
  std::error_code ended;  // Of threads, while they are listed.
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ended)) {
    std::ifstream comm(task.path() / "comm");
    std::ifstream schedstat(task.path() / "schedstat");
    std::string name;
    uint64_t nanoseconds = 0;
    if (std::getline(comm, name) && schedstat >> nanoseconds) {
      out.cpu_seconds[name] += static_cast<double>(nanoseconds) / 1e9;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  out.total_cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return out;
}

std::string this_thread_name() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

uint64_t rss_bytes() {
  return status_bytes("VmRSS");
}

uint64_t peak_rss_bytes() {
  return status_bytes("VmHWM");
}

void reset_peak_rss() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace tidemark::bench
