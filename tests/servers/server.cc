#include "tests/servers/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

namespace tidemark::servers {
namespace {

constexpr std::chrono::milliseconds kPollInterval{5};
constexpr size_t kShownLogBytes = 2000;

std::string end_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  return text.size() <= kShownLogBytes ? text : "..." + text.substr(text.size() - kShownLogBytes);
}

}  // namespace

void wait_until(const std::string& what, const std::function<bool()>& holds,
                std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) {
      throw ServerError("gave up waiting after " + std::to_string(deadline.count()) + " ms: " + what);
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

Server::Server(std::string name, Command command, std::function<bool()> answers)
    : name_(std::move(name)),
      command_(std::move(command)),
      answers_(std::move(answers)),
      stop_signal_(SIGTERM) {}

Server::~Server() {
  try {
    if (running()) kill();
  } catch (const ServerError&) {
    // The supervisor is gone, and the server with it.
  }
}

void Server::launch() {
  if (running()) throw ServerError(name_ + " runs already");
  pid_ = Supervisor::instance().spawn(command_);
}

void Server::wait_until_ready() {
  wait_until(name_ + " answers", [this] {
    if (const auto end = Supervisor::instance().how_it_ended(pid_)) {
      throw ServerError(name_ + " ended with " + *end + " instead of answering; its log ends:\n" +
                        end_of_file(command_.log));
    }
    return answers_();
  });
}

void Server::start() {
  launch();
  wait_until_ready();
}

void Server::stop() {
  Supervisor::instance().signal(pid_, stop_signal_, Scope::Process);
  wait_until_gone("it was asked to end");
}

void Server::kill() {
  Supervisor::instance().signal(pid_, SIGKILL, Scope::Tree);
  wait_until_gone("kill -9");
}

void Server::pause() {
  Supervisor::instance().signal(pid_, SIGSTOP, Scope::Tree);
}

void Server::resume() {
  Supervisor::instance().signal(pid_, SIGCONT, Scope::Tree);
}

void Server::restart() {
  if (running()) kill();
  start();
}

bool Server::running() {
  return pid_ != 0 && !Supervisor::instance().how_it_ended(pid_);
}

void Server::wait_until_gone(const std::string& after) {
  wait_until(name_ + " has ended after " + after, [this] { return !running(); });
}

std::string ask_tcp(uint16_t port, const std::string& request) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char piece[4096];
    for (ssize_t n; (n = recv(fd, piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

void run_to_end(const Command& command) {
  auto& supervisor = Supervisor::instance();
  const pid_t pid = supervisor.spawn(command);
  std::optional<std::string> end;
  wait_until(command.argv.front() + " ends", [&] {
    end = supervisor.how_it_ended(pid);
    return end.has_value();
  });
  if (*end != "exit code 0") {
    throw ServerError(command.argv.front() + " ended with " + *end + "; its log ends:\n" +
                      end_of_file(command.log));
  }
}

}  // namespace tidemark::servers
