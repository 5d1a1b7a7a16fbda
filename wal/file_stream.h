// One stream's segments in a directory. Shared by all handles of the stream in a process; each member says on
// which thread it runs.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "wal/file_io.h"
#include "wal/file_segment.h"
#include "wal/log.h"

namespace tidemark {

enum class FileAccess : uint8_t {
  ReadWrite,
  ReadOnly,         // No process writes: all that is sound is read.
  ReadOnlyDurable,  // A process writes: only what it had synced for certain is read.
};

// Everything that a log in files needs to know about its surroundings.
struct FileStreamOptions {
  uint64_t segment_bytes = uint64_t{32} << 20;
  FileAccess access = FileAccess::ReadWrite;
  std::function<void(const std::string&)> notice{};  // For people. Any thread.
};

struct FileAppend {
  std::string bytes;
  std::function<void(Result<Offset, LogFailure>)> done;  // Any thread.
};

class FileStream {
 public:
  // Reads every segment, cuts a torn tail, refuses damage with file and byte, and makes durable what it read.
  static Result<std::shared_ptr<FileStream>, LogFailure> recover(const std::filesystem::path& directory,
                                                                 StreamId stream,
                                                                 const FileStreamOptions& options);
  // Makes the directory with an empty first segment; nothing happens if it is there.
  static Status create(const std::filesystem::path& directory, StreamId stream);

  // Writer thread: write() without failure, then sync_and_publish(), for one group after the other.
  // A failed write leaves the stream as it was.
  Status write(const std::vector<FileAppend>& group);
  void sync_and_publish(std::vector<FileAppend> group);

  struct Cursor {
    Offset next;
    uint64_t segment_first = 0;  // Of the segment that `position` lies in; a position of 0 is not known.
    uint64_t position = 0;
  };
  // Any thread: entries at the cursor, which moves on. REQUIRES: the cursor lies before the durable end.
  Result<std::vector<LogEntry>, LogFailure> read(Cursor& cursor, size_t bytes_max);
  // Any thread: calls `ready` when there is something to read at `from`, maybe at once.
  void when_readable(Offset from, std::function<void()> ready);
  Log::Bounds bounds() const;

  // Housekeeping thread.
  void trim(Offset begin);
  void set_removed();

 private:
  struct Segment {
    Offset first;
    File file;
    uint64_t bytes = 0;  // Durable.
    std::vector<SegmentScan::Point> index;
  };

  FileStream(std::filesystem::path directory, StreamId stream, FileStreamOptions options)
      : directory_(std::move(directory)), stream_(stream), options_(std::move(options)) {}
  Status load();
  Status load_segment(Offset first, bool is_last);
  Status roll();
  std::shared_ptr<Segment> segment_of(Offset offset) const;  // REQUIRES: the lock.

  const std::filesystem::path directory_;
  const StreamId stream_;
  const FileStreamOptions options_;

  // The writer's alone: where the next group goes.
  std::shared_ptr<Segment> active_;
  Offset write_next_;
  uint64_t write_position_ = 0;

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Segment>> segments_;  // The last one is being written.
  Offset durable_end_;
  bool removed_ = false;
  std::multimap<Offset, std::function<void()>> waiting_;  // By the offset to read.
};

}  // namespace tidemark
