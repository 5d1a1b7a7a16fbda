#include "tests/wal/disk_faults.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace tidemark::disk_faults {
namespace {

std::atomic<int> write_error = 0;
std::atomic<int> sync_error = 0;
std::mutex mutex;
std::condition_variable released;
bool holding = false;
int held = 0;
std::map<std::filesystem::path, uint64_t> sizes;

struct Written {
  uint64_t begin;
  uint64_t end;
  bool synced = false;
};
std::map<std::filesystem::path, std::vector<Written>> writes;

std::filesystem::path path_of(int descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
}

template <typename F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void fail_writes(int error) {
  write_error = error;
}
void fail_syncs(int error) {
  sync_error = error;
}

void hold_syncs(bool hold) {
  {
    const std::lock_guard lock(mutex);
    holding = hold;
  }
  released.notify_all();
}

bool holds_a_sync() {
  const std::lock_guard lock(mutex);
  return held > 0;
}

std::map<std::filesystem::path, uint64_t> synced_sizes() {
  const std::lock_guard lock(mutex);
  return sizes;
}

bool wrote_durably(const std::filesystem::path& file, uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex);
  const auto& of_file = writes[file];
  return std::any_of(of_file.begin(), of_file.end(),
                     [&](const Written& it) { return it.synced && it.begin <= begin && end <= it.end; });
}

}  // namespace tidemark::disk_faults

using namespace tidemark::disk_faults;

extern "C" ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t position) {
  static auto* real = next<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  if (write_error == 0) {
    const ssize_t wrote = real(descriptor, pieces, count, position);
    const std::lock_guard lock(mutex);
    const auto begin = static_cast<uint64_t>(position);
    if (wrote > 0) writes[path_of(descriptor)].push_back({begin, begin + static_cast<uint64_t>(wrote)});
    return wrote;
  }
  const ssize_t half = real(descriptor, pieces, count / 2, position);
  if (half > 0) return half;
  errno = write_error;
  return -1;
}

extern "C" int fdatasync(int descriptor) {
  static auto* real = next<int(int)>("fdatasync");
  if (sync_error != 0) {
    errno = sync_error;
    return -1;
  }
  {
    std::unique_lock lock(mutex);
    ++held;
    released.wait(lock, [] { return !holding; });
    --held;
  }
  struct stat before {};
  ::fstat(descriptor, &before);
  const int result = real(descriptor);
  const auto path = path_of(descriptor);
  const std::lock_guard lock(mutex);
  sizes[path] = static_cast<uint64_t>(before.st_size);
  for (Written& written : writes[path]) written.synced |= result == 0;
  return result;
}
