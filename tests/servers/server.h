// One server process of a test: started, stopped, paused, killed, restarted, on the same port and data.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tests/servers/supervisor.h"

namespace tidemark::servers {

// How long a server may take to answer. Generous: a loaded machine is no failure of a test.
inline constexpr std::chrono::seconds kReadyDeadline{90};

// Returns when `holds` does, asking every few milliseconds; throws ServerError at the deadline, naming
// `what`.
void wait_until(const std::string& what, const std::function<bool()>& holds,
                std::chrono::milliseconds deadline = kReadyDeadline);

// All members throw ServerError on failure. Not thread-safe. The destructor kills the process.
class Server {
 public:
  // `answers` says whether the server serves requests now; it may block for a second.
  Server(std::string name, Command command, std::function<bool()> answers);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void launch();            // Starts the process and does not wait.
  void wait_until_ready();  // Until it answers; fails at once if the process ends.
  void start();             // Both.

  // Asks it to end, and waits until it has.
  void stop();
  // kill -9, with all processes below it; waits until it is gone.
  void kill();
  // SIGSTOP and SIGCONT, with all processes below it.
  void pause();
  void resume();
  // kill(), unless it has ended already, and start().
  void restart();

  bool running();
  const std::string& name() const { return name_; }
  pid_t pid() const { return pid_; }
  // The signal that asks this server to end; SIGTERM unless told otherwise.
  void set_stop_signal(int number) { stop_signal_ = number; }

 private:
  void wait_until_gone(const std::string& after);

  std::string name_;
  Command command_;
  std::function<bool()> answers_;
  int stop_signal_;
  pid_t pid_ = 0;
};

// What a server on 127.0.0.1 sends back to `request` before it closes the connection; empty if it does not
// listen, or does not answer within a second.
std::string ask_tcp(uint16_t port, const std::string& request);

// Runs a program to its end; throws ServerError with the end of its log if the exit code is not 0.
void run_to_end(const Command& command);

}  // namespace tidemark::servers
