// Reads a log as a stream: decodes, checks that offsets are dense, and judges every record by the reader
// rule. Wal tails with it; queues that fell behind, checkers and `wal dump` use it directly.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "wal/log.h"
#include "wal/reader_rule.h"

namespace tidemark {

struct JudgedRecord {
  Offset at;
  Verdict verdict;
  WalRecord record;
  ReaderState state;  // After it.
};

// Lives on the worker's loop. REQUIRES: the Log outlives it.
class StreamReader {
 public:
  StreamReader(StreamId stream, Log& log, ReaderState start, size_t read_bytes);

  using Done = std::function<void(Result<std::vector<JudgedRecord>, LogFailure>)>;
  // At least one record, as soon as there is one. One call is outstanding at a time; destroying the reader
  // ends it. After Unavailable it may be called again; any other failure is final: Refused also stands for
  // a damaged record, a hole in the log and another stream's record.
  void next(Done done);

  const ReaderState& state() const { return rule_.state(); }

 private:
  Result<std::vector<JudgedRecord>, LogFailure> judge(const std::vector<LogEntry>& entries);

  StreamId stream_;
  Log& log_;
  ReaderRule rule_;
  size_t read_bytes_;
  std::unique_ptr<LogReader> reader_;
};

}  // namespace tidemark
