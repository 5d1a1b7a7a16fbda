#include "node/log_handles.h"

#include <utility>

namespace tidemark {
namespace {

class SharedReader : public LogReader {
 public:
  SharedReader(std::shared_ptr<Log> log, std::unique_ptr<LogReader> reader)
      : log_(std::move(log)), reader_(std::move(reader)) {}
  void next(size_t bytes_max, Done done) override { reader_->next(bytes_max, std::move(done)); }

 private:
  std::shared_ptr<Log> log_;
  std::unique_ptr<LogReader> reader_;
};

class SharedLog : public Log {
 public:
  explicit SharedLog(std::shared_ptr<Log> log) : log_(std::move(log)) {}

  void append(std::string bytes, AppendDone done) override {
    log_->append(std::move(bytes), guard<Offset>(std::move(done)));
  }
  void bounds(std::function<void(Result<Bounds, LogFailure>)> done) override {
    log_->bounds(guard<Bounds>(std::move(done)));
  }
  std::unique_ptr<LogReader> read(Offset from) override {
    return std::make_unique<SharedReader>(log_, log_->read(from));
  }
  void trim(Offset begin, std::function<void(Result<void, LogFailure>)> done) override {
    log_->trim(begin, guard<void>(std::move(done)));
  }

 private:
  template <typename T>
  std::function<void(Result<T, LogFailure>)> guard(std::function<void(Result<T, LogFailure>)> done) const {
    return [alive = std::weak_ptr<int>(alive_), done = std::move(done)](Result<T, LogFailure> result) {
      if (!alive.expired()) done(std::move(result));
    };
  }

  std::shared_ptr<Log> log_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace

std::unique_ptr<Log> share_log(std::shared_ptr<Log> log) {
  return std::make_unique<SharedLog>(std::move(log));
}

void LogHandles::open(StreamId stream, Opened done) {
  if (auto found = open_[stream].lock()) return done(std::move(found));
  std::vector<Opened>& waiting = waiting_[stream];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;
  store_.open(stream, [this, stream,
                       alive = std::weak_ptr<int>(alive_)](Result<std::unique_ptr<Log>, LogFailure> opened) {
    if (alive.expired()) return;
    std::vector<Opened> askers = std::exchange(waiting_[stream], {});
    if (!opened.ok()) {
      for (Opened& asker : askers) asker(opened.error());
      return;
    }
    std::shared_ptr<Log> log = std::move(*opened);
    open_[stream] = log;
    for (Opened& asker : askers) asker(log);
  });
}

}  // namespace tidemark
