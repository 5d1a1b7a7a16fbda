#include "wal/stream_reader.h"

#include "base/buggify.h"
#include "wal/stream_name.h"

namespace tidemark {

StreamReader::StreamReader(StreamId stream, Log& log, ReaderState start, size_t read_bytes)
    : stream_(stream), log_(log), rule_(stream, start), read_bytes_(read_bytes) {}

void StreamReader::next(Done done) {
  // A cursor is made anew after a failure, so that the store may drop what it knew.
  if (reader_ == nullptr) reader_ = log_.read(rule_.state().next);
  reader_->next(read_bytes_, [this, done = std::move(done)](Result<std::vector<LogEntry>, LogFailure> read) {
    if (read.ok()) return done(judge(*read));
    reader_.reset();
    done(read.error());
  });
}

Result<std::vector<JudgedRecord>, LogFailure> StreamReader::judge(const std::vector<LogEntry>& entries) {
  std::vector<JudgedRecord> judged;
  judged.reserve(entries.size());
  auto refused = [&](Offset at, const std::string& why) {
    return LogFailure{LogError::Refused,
                      "stream " + stream_name(stream_) + ", offset " + std::to_string(at.value) + ": " + why};
  };
  for (const LogEntry& entry : entries) {
    if (entry.offset != rule_.state().next) {
      return refused(rule_.state().next,
                     "missing; the next entry lies at offset " + std::to_string(entry.offset.value));
    }
    auto record = decode_record(entry.bytes);
    if (!record.ok()) return refused(entry.offset, record.error().message);
    const auto verdict = rule_.step(record->header);
    if (!verdict.ok()) return refused(entry.offset, verdict.error().message);
    judged.push_back({entry.offset, *verdict, std::move(*record), rule_.state()});
    if (TM_BUGGIFY("wal: a read ends early")) {
      reader_.reset();
      break;
    }
  }
  return judged;
}

}  // namespace tidemark
