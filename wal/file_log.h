// Logs in files: for a cluster in one process, and for trying things out. A directory per store, a directory
// per stream, checksummed segments, one fsync per group commit.
#pragma once

#include <filesystem>
#include <memory>

#include "base/scheduler.h"
#include "wal/file_stream.h"
#include "wal/log.h"

namespace tidemark {

struct FileLogsOptions {
  std::filesystem::path directory;  // Made if it is not there.
  FileStreamOptions stream{};
};

// One process's store, with a thread that writes and one that reads. A lock keeps other processes from
// writing. What is acknowledged is on the disk. Without room, an append fails as Unavailable and leaves
// nothing behind; a failed sync ends the process.
class FileLogs {
 public:
  // Error: the directory can not be used, or another process has it. With ReadOnly, another process may be
  // writing: then the access becomes ReadOnlyDurable.
  static Result<std::unique_ptr<FileLogs>> open(FileLogsOptions options);
  // REQUIRES: the stores and logs made of it are gone; the loops they were connected to are not.
  ~FileLogs();
  FileLogs(const FileLogs&) = delete;
  FileLogs& operator=(const FileLogs&) = delete;

  // For one worker; callbacks run on its loop.
  std::unique_ptr<LogStore> connect(Scheduler& loop);

  // The streams in the directory. Blocks.
  Result<std::vector<StreamId>> streams() const;

  FileAccess access() const;

  class Impl;

 private:
  explicit FileLogs(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
