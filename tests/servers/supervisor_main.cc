// The parent of all servers that a test starts. It outlives the test, however that ends, and leaves nothing
// behind: when the test is gone it kills every process below itself and removes the directories.
//
// Being single-threaded, it can give its children a parent-death signal that means what it says (the signal
// follows the *thread* that forked); being their subreaper, it also inherits the orphans of a server that
// died.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/servers/logs.h"
#include "tests/servers/process_tree.h"
#include "tests/servers/supervisor_protocol.h"

namespace tidemark::servers {
namespace {

Fields error(const std::string& reason) {
  return {"error", reason};
}

Fields error_of_errno(const std::string& what) {
  return error(what + ": " + std::strerror(errno));
}

struct SpawnRequest {
  std::string log;
  std::string working_directory;
  uid_t uid;
  gid_t gid;
  std::vector<std::string> argv;
};

// In the child, between fork and exec. Returns only on failure.
void become(const SpawnRequest& request, pid_t supervisor) {
  setpgid(0, 0);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  const int log = open(request.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (log < 0) return;
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (request.uid != geteuid()) {
    if (setgroups(0, nullptr) != 0 || setgid(request.gid) != 0 || setuid(request.uid) != 0) return;
  }
  // After setuid, which clears it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(1);
  if (chdir(request.working_directory.c_str()) != 0) return;
  std::vector<char*> argv;
  for (const std::string& argument : request.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
}

class Supervisor {
 public:
  Supervisor(int socket, pid_t test) : socket_(socket), test_(test) {}

  void run() {
    const int test_gone = static_cast<int>(syscall(SYS_pidfd_open, test_, 0));
    if (test_gone < 0) return;  // It was quicker than we.
    // Both, because a process that the test forked may hold the socket open for longer than the test lives.
    std::vector<pollfd> watched{{socket_, POLLIN, 0}, {test_gone, POLLIN, 0}};
    while (true) {
      if (poll(watched.data(), watched.size(), -1) < 0) continue;
      if ((watched[0].revents & (POLLIN | POLLHUP)) != 0) {
        const auto request = receive_fields(socket_);
        if (!request || !send_fields(socket_, answer(*request))) return;
      } else if (watched[1].revents != 0) {
        return;
      }
    }
  }

  void clean_up() {
    while (true) {
      for (pid_t pid : descendants_of(getpid())) kill(pid, SIGKILL);
      if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) break;
    }
    for (const auto& [directory, name] : directories_) {
      if (!orderly_ && !kept_logs_.empty()) keep_logs(directory, kept_logs_, name);
      std::error_code ignored;
      std::filesystem::remove_all(directory, ignored);
    }
  }

 private:
  Fields answer(const Fields& request) {
    if (request.empty()) return error("empty request");
    const std::string& verb = request[0];
    if (verb == "spawn" && request.size() > 5) return spawn(request);
    if (verb == "signal" && request.size() == 4) return signal(request);
    if (verb == "status" && request.size() == 2) return status(std::stoi(request[1]));
    if (verb == "watch" && request.size() == 3) {
      directories_[request[1]] = request[2];
    } else if (verb == "forget" && request.size() == 2) {
      directories_.erase(request[1]);
    } else if (verb == "keep-logs" && request.size() == 2) {
      kept_logs_ = request[1];
    } else if (verb == "done") {
      orderly_ = true;
    } else {
      return error("unknown request: " + verb);
    }
    return {"ok"};
  }

  Fields spawn(const Fields& request) {
    const SpawnRequest spawned{request[1], request[2], static_cast<uid_t>(std::stoul(request[3])),
                               static_cast<gid_t>(std::stoul(request[4])),
                               std::vector<std::string>(request.begin() + 5, request.end())};
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) != 0) return error_of_errno("pipe");
    const pid_t supervisor = getpid();
    const pid_t child = fork();
    if (child < 0) return error_of_errno("fork");
    if (child == 0) {
      become(spawned, supervisor);
      const int reason = errno;
      if (write(failure[1], &reason, sizeof reason) < 0) _exit(126);
      _exit(127);
    }
    close(failure[1]);
    int reason = 0;
    const bool failed = read(failure[0], &reason, sizeof reason) == sizeof reason;
    close(failure[0]);
    if (failed) {
      waitpid(child, nullptr, 0);
      errno = reason;
      return error_of_errno(spawned.argv[0]);
    }
    ended_.erase(child);  // Of an earlier process with the same number.
    dying_.erase(child);
    running_.insert(child);
    return {"ok", std::to_string(child)};
  }

  Fields signal(const Fields& request) {
    const pid_t pid = std::stoi(request[1]);
    const int number = std::stoi(request[2]);
    // Also settles that the pid is still this child's: it is not reused before it was waited for.
    if (status(pid)[0] != "running") return error("it has ended");
    const bool tree = request[3] == "tree";
    if (tree && number == SIGKILL) return kill_tree(pid);
    const std::vector<pid_t> below = tree ? descendants_of(pid) : std::vector<pid_t>();
    if (kill(pid, number) != 0) return error_of_errno("kill");
    for (pid_t descendant : below) kill(descendant, number);
    return {"ok"};
  }

  // Counts as running until the last of the tree is gone: one that lingers may hold a lock, a port or shared
  // memory against the server's next start.
  Fields kill_tree(pid_t pid) {
    // It must not fork behind our look at its children.
    int how = 0;
    if (kill(pid, SIGSTOP) != 0) return error_of_errno("kill");
    if (waitpid(pid, &how, WUNTRACED) == pid && !WIFSTOPPED(how)) ended(pid, how);
    const std::vector<pid_t> below = descendants_of(pid);
    kill(pid, SIGKILL);
    for (pid_t descendant : below) kill(descendant, SIGKILL);
    dying_[pid] = below;
    return {"ok"};
  }

  Fields status(pid_t pid) {
    reap();
    if (running_.contains(pid) || tree_lives(pid)) return {"running"};
    const auto it = ended_.find(pid);
    if (it == ended_.end()) return error("no such process");
    if (WIFEXITED(it->second)) return {"exited", std::to_string(WEXITSTATUS(it->second))};
    return {"signaled", std::to_string(WTERMSIG(it->second))};
  }

  // Orphans of servers are among those reaped; nobody asks for them.
  void reap() {
    int how = 0;
    for (pid_t pid; (pid = waitpid(-1, &how, WNOHANG)) > 0;) {
      ended(pid, how);
    }
  }

  void ended(pid_t pid, int how) {
    if (running_.erase(pid) > 0) ended_[pid] = how;
  }

  // They are ours to reap once their parents are gone, so a number that answers is still theirs.
  bool tree_lives(pid_t root) {
    const auto it = dying_.find(root);
    if (it == dying_.end()) return false;
    std::erase_if(it->second, [](pid_t pid) { return kill(pid, 0) != 0; });
    if (!it->second.empty()) return true;
    dying_.erase(it);
    return false;
  }

  int socket_;
  pid_t test_;
  bool orderly_ = false;
  std::string kept_logs_;
  std::map<std::string, std::string> directories_;  // path -> name for its logs
  std::set<pid_t> running_;
  std::map<pid_t, int> ended_;                 // pid -> wait status
  std::map<pid_t, std::vector<pid_t>> dying_;  // root of a killed tree -> those below it not yet reaped
};

}  // namespace
}  // namespace tidemark::servers

int main(int argc, char** argv) {
  using tidemark::servers::Supervisor;
  if (argc != 3) {
    std::fprintf(stderr, "tm_test_supervisor: started by tests, not by hand\n");
    return 2;
  }
  const int socket = std::atoi(argv[1]);
  setsid();  // An interrupt at the terminal reaches the test, not us.
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fcntl(socket, F_SETFD, FD_CLOEXEC);

  Supervisor supervisor(socket, static_cast<pid_t>(std::atoi(argv[2])));
  supervisor.run();
  supervisor.clean_up();
  return 0;
}
