// Logs whose store answers wrongly for a while, as brokers do that have not heard the news: what lies in the
// log is as good as ever.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "wal/log.h"

namespace tidemark {

struct LogTroubles {
  std::optional<LogFailure> create;  // The answer to create().
  std::optional<LogFailure> open;
  std::optional<LogFailure> remove;
  std::optional<Offset> end;  // The store says that logs end there.
  std::optional<LogFailure> read;
};

// REQUIRES: the troubles outlive it.
class TroubledLogs : public LogStore {
 public:
  TroubledLogs(std::unique_ptr<LogStore> store, const LogTroubles& troubles)
      : store_(std::move(store)), troubles_(troubles) {}

  void create(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    store_->create(stream, [&troubles = troubles_, done](Result<void, LogFailure> created) {
      if (troubles.create) return done(*troubles.create);
      done(std::move(created));
    });
  }
  void remove(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    if (troubles_.remove) return done(*troubles_.remove);
    store_->remove(stream, std::move(done));
  }
  void open(StreamId stream, std::function<void(Result<std::unique_ptr<Log>, LogFailure>)> done) override {
    store_->open(stream, [&troubles = troubles_, done](Result<std::unique_ptr<Log>, LogFailure> opened) {
      if (troubles.open) return done(*troubles.open);
      if (!opened.ok()) return done(opened.error());
      done(std::unique_ptr<Log>(std::make_unique<TroubledLog>(std::move(*opened), troubles)));
    });
  }

 private:
  class FailingReader : public LogReader {
   public:
    explicit FailingReader(LogFailure failure) : failure_(std::move(failure)) {}
    void next(size_t, Done done) override { done(failure_); }

   private:
    LogFailure failure_;
  };

  class TroubledLog : public Log {
   public:
    TroubledLog(std::unique_ptr<Log> log, const LogTroubles& troubles)
        : log_(std::move(log)), troubles_(troubles) {}
    void append(std::string bytes, AppendDone done) override {
      log_->append(std::move(bytes), std::move(done));
    }
    void bounds(std::function<void(Result<Bounds, LogFailure>)> done) override {
      log_->bounds([&troubles = troubles_, done](Result<Bounds, LogFailure> bounds) {
        if (bounds.ok() && troubles.end) bounds->end = std::min(bounds->end, *troubles.end);
        done(std::move(bounds));
      });
    }
    std::unique_ptr<LogReader> read(Offset from) override {
      if (troubles_.read) return std::make_unique<FailingReader>(*troubles_.read);
      return log_->read(from);
    }
    void trim(Offset begin, std::function<void(Result<void, LogFailure>)> done) override {
      log_->trim(begin, std::move(done));
    }

   private:
    std::unique_ptr<Log> log_;
    const LogTroubles& troubles_;
  };

  std::unique_ptr<LogStore> store_;
  const LogTroubles& troubles_;
};

}  // namespace tidemark
