// A clean end on SIGTERM and SIGINT.
//
//   int main() {
//     ShutdownSignal shutdown;   // First, before any thread starts.
//     Server server = start();
//     log.info("shutting down", kv("signal", shutdown.wait()));
//     server.stop();
//   }
#pragma once

#include <string>

namespace tidemark {

// Only one at a time. Threads that were started before it may be interrupted by the signals.
class ShutdownSignal {
 public:
  // From here on, the signals wait in line instead of ending the process.
  ShutdownSignal();
  ~ShutdownSignal();
  ShutdownSignal(const ShutdownSignal&) = delete;
  ShutdownSignal& operator=(const ShutdownSignal&) = delete;

  // Blocks until one arrives and returns its name. After that the next one ends the process at once: whoever
  // asks twice does not want to wait.
  std::string wait();

  // Blocks until one waits for wait(), which is true, or `other` is readable.
  bool comes_before(int other) const;

 private:
  int descriptor_;
};

}  // namespace tidemark
