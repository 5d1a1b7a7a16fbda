// What this process has used so far: processor time by thread, memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tidemark::bench {

struct ProcessFigures {
  std::map<std::string, double> cpu_seconds;  // By the thread's name; threads of one name together.
  double total_cpu_seconds = 0;               // Threads that have ended included.
};
ProcessFigures process_figures();
std::string this_thread_name();
uint64_t rss_bytes();

// How high the memory has been since the start, or since reset_peak_rss(), where the kernel can forget it.
uint64_t peak_rss_bytes();
void reset_peak_rss();

}  // namespace tidemark::bench
