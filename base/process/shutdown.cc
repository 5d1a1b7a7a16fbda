#include "base/process/shutdown.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.h"

namespace tidemark {
namespace {

sigset_t shutdown_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

ShutdownSignal::ShutdownSignal() {
  const sigset_t set = shutdown_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = signalfd(-1, &set, SFD_CLOEXEC);
  TM_ASSERT(descriptor_ >= 0, errno);
}

ShutdownSignal::~ShutdownSignal() {
  const sigset_t set = shutdown_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  close(descriptor_);
}

bool ShutdownSignal::comes_before(int other) const {
  pollfd waiting[] = {{descriptor_, POLLIN, 0}, {other, POLLIN, 0}};
  int count;
  do {
    count = poll(waiting, 2, -1);
  } while (count < 0 && errno == EINTR);
  TM_ASSERT(count > 0, errno);
  return waiting[0].revents != 0;
}

std::string ShutdownSignal::wait() {
  signalfd_siginfo info{};
  ssize_t size;
  do {
    size = read(descriptor_, &info, sizeof info);
  } while (size < 0 && errno == EINTR);
  TM_ASSERT(size == sizeof info, size);
  const sigset_t set = shutdown_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT";
}

}  // namespace tidemark
