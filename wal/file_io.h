// Files as the log needs them: whole reads and writes, errors that name the path, and syncs that either
// succeed or end the process.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tidemark {

// After a failed sync the kernel may have dropped the pages and report success the next time, so nothing that
// this process believes about the file is worth anything: it ends, and recovery reads what is there.
[[noreturn]] void end_process(const std::string& why);

class File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // `flags` as of open(2); O_CLOEXEC is added.
  static Result<File> open(const std::filesystem::path& path, int flags);

  Result<uint64_t> size() const;
  // What lies at `position`: `bytes` of it, less at the end of the file.
  Result<std::string> read_at(uint64_t position, size_t bytes) const;
  // All of it, or an error; then some of it may have been written.
  Status write_at(uint64_t position, std::vector<iovec> pieces) const;
  Status truncate(uint64_t size) const;
  void sync() const;  // Ends the process on failure.

  int descriptor() const { return descriptor_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  Error failed(const char* what) const;

  int descriptor_ = -1;
  std::filesystem::path path_;
};

// A file of that name exists only whole and durable, whenever the power goes. What an earlier attempt has
// left lies beside it under draft_of() and is written over. A failed sync ends the process.
Status write_file(const std::filesystem::path& path, std::string bytes);
std::filesystem::path draft_of(const std::filesystem::path& path);

// So that the names in it are durable. Ends the process on failure.
void sync_directory(const std::filesystem::path& path);

}  // namespace tidemark
