#include "tests/cluster/disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "tests/servers/supervisor.h"

namespace tidemark::crash {
namespace {

constexpr const char* kBallast = "ballast";

}  // namespace

bool enter_own_mounts() {
  if (geteuid() != 0) return false;
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

SmallDisk::SmallDisk(std::filesystem::path place, size_t megabytes) : place_(std::move(place)) {
  std::filesystem::create_directories(place_);
  const std::string size = "size=" + std::to_string(megabytes) + "m,mode=0755";
  if (mount("tmpfs", place_.c_str(), "tmpfs", 0, size.c_str()) != 0)
    throw servers::ServerError(place_.string() + ": " + std::strerror(errno));
}

SmallDisk::~SmallDisk() {
  umount2(place_.c_str(), MNT_DETACH);
}

void SmallDisk::fill() {
  const int file = open((place_ / kBallast).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw servers::ServerError(place_.string() + ": " + std::strerror(errno));
  const std::vector<char> bytes(1 << 16);
  for (size_t piece = bytes.size(); piece > 0;)
    if (write(file, bytes.data(), piece) <= 0) piece /= 2;
  close(file);
}

void SmallDisk::free() {
  std::filesystem::remove(place_ / kBallast);
}

}  // namespace tidemark::crash
