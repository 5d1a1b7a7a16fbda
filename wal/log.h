// A store of raw logs: what files, Kafka and memory each give. Fencing and validity are built on top of it,
// once, in wal.h. Lives on one worker's loop: calls come from it, and callbacks run on it, never from inside
// the call. A callback may destroy the object it was asked of.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tidemark {

enum class LogError : uint8_t {
  OutcomeUnknown,  // Append: it may be in the log, now or later, at any offset.
  Unavailable,     // Nothing happened; worth trying again later.
  Trimmed,         // Read: the log begins after the offset asked for.
  Refused,         // The stream is not usable: wrong settings, damage, another stream's id. Final.
};
struct LogFailure {
  LogError code;
  std::string message;  // For people: what is wrong and what to do.
};

struct LogEntry {
  Offset offset;
  std::string bytes;
};

// A cursor over the durable entries of one log, in order. One call of next() is outstanding at a time.
class LogReader {
 public:
  virtual ~LogReader() = default;  // Ends a pending next(): its `done` is never called.

  using Done = std::function<void(Result<std::vector<LogEntry>, LogFailure>)>;
  // At least one entry, as soon as there is one; about `bytes_max` at most, but always one whole entry.
  // After a failure the reader is used up.
  virtual void next(size_t bytes_max, Done done) = 0;
};

// What every store takes in one entry: below the 1 MiB that a Kafka topic takes by default.
constexpr size_t kLogEntryBytesMax = 1'000'000;

class Log {
 public:
  virtual ~Log() = default;  // Appends still in flight are not called back.

  using AppendDone = std::function<void(Result<Offset, LogFailure>)>;
  // Pipelined: many may be in flight. `done` gets the offset at which the entry became durable. Entries
  // land in the order of the calls as long as none fails; the caller checks the offsets.
  // REQUIRES: bytes within kLogEntryBytesMax.
  virtual void append(std::string bytes, AppendDone done) = 0;

  // The first offset still there and the offset after the last durable entry.
  struct Bounds {
    Offset begin;
    Offset end;
  };
  virtual void bounds(std::function<void(Result<Bounds, LogFailure>)> done) = 0;

  // REQUIRES: the Log outlives the reader.
  virtual std::unique_ptr<LogReader> read(Offset from) = 0;

  // Discards what lies before `begin`; a hint to the store, which may keep more.
  // REQUIRES: begin is not past the durable end.
  virtual void trim(Offset begin, std::function<void(Result<void, LogFailure>)> done) = 0;
};

class LogStore {
 public:
  virtual ~LogStore() = default;

  // Both idempotent. A stream that is removed is not made again: region ids are never reused.
  virtual void create(StreamId stream, std::function<void(Result<void, LogFailure>)> done) = 0;
  virtual void remove(StreamId stream, std::function<void(Result<void, LogFailure>)> done) = 0;

  // Checks what the store promises for the stream (settings of a topic, checksums of segments) and refuses
  // with a clear message otherwise. A stream that does not exist is Refused.
  virtual void open(StreamId stream, std::function<void(Result<std::unique_ptr<Log>, LogFailure>)> done) = 0;
};

}  // namespace tidemark
