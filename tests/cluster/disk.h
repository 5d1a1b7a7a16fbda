// A small disk of its own for one process, which can be filled.
#pragma once

#include <filesystem>

namespace tidemark::crash {

// Makes what this process and its children mount vanish with them. False: it may not. Call it before anything
// is started.
bool enter_own_mounts();

// A tmpfs. Throws ServerError. REQUIRES: enter_own_mounts() was true.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path place, size_t megabytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::filesystem::path& path() const { return place_; }
  void fill();  // To the last byte.
  void free();

 private:
  const std::filesystem::path place_;
};

}  // namespace tidemark::crash
