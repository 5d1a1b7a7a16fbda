#include "wal/file_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "wal/batch_thread.h"
#include "wal/loop_callbacks.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

constexpr const char* kLockName = "LOCK";
constexpr const char* kRemovedSuffix = ".removed";

// Exclusive for the one that writes; shared for a reader that no writer disturbs.
Result<std::optional<File>> lock_directory(const std::filesystem::path& directory, FileAccess access) {
  const bool writes = access == FileAccess::ReadWrite;
  auto file = File::open(directory / kLockName, writes ? O_RDWR | O_CREAT : O_RDONLY);
  if (!file.ok()) return file.error();
  if (::flock(file->descriptor(), (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Error{file->path().string() + ": can not lock: " + std::strerror(errno)};
    if (!writes) return std::optional<File>();
    const auto holder = file->read_at(0, 32);
    return Error{directory.string() + ": another process" +
                 (holder.ok() && !holder->empty() ? " (" + *holder + ")" : "") + " uses these logs"};
  }
  if (writes) {
    std::string holder = "pid " + std::to_string(::getpid());
    TM_TRY(file->truncate(0));
    TM_TRY(file->write_at(0, {{holder.data(), holder.size()}}));
  }
  return std::optional<File>(std::move(*file));
}

}  // namespace

// Everything made of it holds a reference: the threads run only while it is there.
class FileLogs::Impl {
 public:
  Impl(FileLogsOptions options, std::optional<File> lock)
      : options_(std::move(options)),
        lock_(std::move(lock)),
        housekeeping_("wal files",
                      [](std::vector<std::function<void()>> jobs) {
                        for (auto& job : jobs) job();
                      }),
        writer_("wal writer", [this](std::vector<QueuedAppend> batch) { write(std::move(batch)); }) {}

  struct QueuedAppend {
    std::shared_ptr<FileStream> stream;
    FileAppend append;
  };
  void append(QueuedAppend queued) { writer_.push(std::move(queued)); }
  void run(std::function<void()> job) { housekeeping_.push(std::move(job)); }

  // On the housekeeping thread.
  Result<void, LogFailure> create(StreamId stream);
  Result<void, LogFailure> remove(StreamId stream);
  Result<std::shared_ptr<FileStream>, LogFailure> load(StreamId stream);
  void clean_up();

  bool writes() const { return options_.stream.access == FileAccess::ReadWrite; }
  const FileLogsOptions& options() const { return options_; }

 private:
  void write(std::vector<QueuedAppend> batch);
  std::filesystem::path path_of(StreamId stream) const { return options_.directory / stream_name(stream); }

  const FileLogsOptions options_;
  const std::optional<File> lock_;
  std::map<StreamId, std::weak_ptr<FileStream>> loaded_;  // The housekeeping thread's.
  BatchThread<std::function<void()>> housekeeping_;
  BatchThread<QueuedAppend> writer_;
};

// One group commit: a write per stream, then a sync per stream, then the news.
void FileLogs::Impl::write(std::vector<QueuedAppend> batch) {
  std::vector<std::shared_ptr<FileStream>> order;
  std::map<FileStream*, std::vector<FileAppend>> groups;
  for (QueuedAppend& queued : batch) {
    auto& group = groups[queued.stream.get()];
    if (group.empty()) order.push_back(queued.stream);
    group.push_back(std::move(queued.append));
  }
  std::erase_if(order, [&](const auto& stream) {
    auto& group = groups[stream.get()];
    const auto written = stream->write(group);
    if (written.ok()) return false;
    for (FileAppend& append : group) append.done(LogFailure{LogError::Unavailable, written.error().message});
    return true;
  });
  for (const auto& stream : order) stream->sync_and_publish(std::move(groups[stream.get()]));
}

Result<void, LogFailure> FileLogs::Impl::create(StreamId stream) {
  if (auto made = FileStream::create(path_of(stream), stream); !made.ok()) {
    return LogFailure{LogError::Unavailable, made.error().message};
  }
  return {};
}

Result<void, LogFailure> FileLogs::Impl::remove(StreamId stream) {
  std::error_code error;
  const auto path = path_of(stream);
  auto doomed = path;
  doomed += kRemovedSuffix;
  if (!std::filesystem::exists(path, error)) return {};
  if (const auto open = loaded_[stream].lock()) open->set_removed();
  loaded_.erase(stream);
  std::filesystem::rename(path, doomed, error);
  if (error) return LogFailure{LogError::Unavailable, path.string() + ": can not remove: " + error.message()};
  sync_directory(options_.directory);
  std::filesystem::remove_all(doomed, error);
  return {};
}

Result<std::shared_ptr<FileStream>, LogFailure> FileLogs::Impl::load(StreamId stream) {
  if (auto open = loaded_[stream].lock()) return open;
  auto recovered = FileStream::recover(path_of(stream), stream, options_.stream);
  if (recovered.ok()) loaded_[stream] = *recovered;
  return recovered;
}

// What an interrupted create or remove left behind.
void FileLogs::Impl::clean_up() {
  std::error_code error;
  std::vector<std::filesystem::path> leftovers;
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory, error)) {
    const auto extension = entry.path().extension();
    if (extension == kRemovedSuffix || extension == ".new") leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) std::filesystem::remove_all(path, error);
}

namespace {

LogFailure read_only(const FileLogs::Impl& logs) {
  return {LogError::Refused, logs.options().directory.string() + " was opened for reading only"};
}

class FileLogReader final : public LogReader {
 public:
  FileLogReader(FileLogs::Impl& logs, std::shared_ptr<FileStream> stream, Scheduler& loop, Offset from)
      : logs_(logs), stream_(std::move(stream)), callbacks_(loop), cursor_{.next = from} {}

  void next(size_t bytes_max, Done done) override {
    auto deliver = callbacks_.wrap([this, done = std::move(done)](const std::shared_ptr<Read>& read) {
      cursor_ = read->cursor;
      done(std::move(read->entries));
    });
    // Weakly: the stream keeps what waits, also for a reader that is gone.
    auto run = [weak = std::weak_ptr(stream_), cursor = cursor_, bytes_max, deliver]() mutable {
      const auto stream = weak.lock();
      if (stream == nullptr) return;
      auto entries = stream->read(cursor, bytes_max);
      deliver(std::make_shared<Read>(Read{cursor, std::move(entries)}));
    };
    stream_->when_readable(cursor_.next, [&logs = logs_, run] { logs.run(run); });
  }

 private:
  struct Read {
    FileStream::Cursor cursor;
    Result<std::vector<LogEntry>, LogFailure> entries;
  };

  FileLogs::Impl& logs_;
  std::shared_ptr<FileStream> stream_;
  LoopCallbacks callbacks_;
  FileStream::Cursor cursor_;
};

class FileLog final : public Log {
 public:
  FileLog(FileLogs::Impl& logs, std::shared_ptr<FileStream> stream, Scheduler& loop)
      : logs_(logs), stream_(std::move(stream)), callbacks_(loop) {}

  void append(std::string bytes, AppendDone done) override {
    auto tell = callbacks_.wrap([done = std::move(done)](const Result<Offset, LogFailure>& at) { done(at); });
    if (!logs_.writes()) return tell(Result<Offset, LogFailure>(read_only(logs_)));
    logs_.append({stream_, {std::move(bytes), std::move(tell)}});
  }

  void bounds(std::function<void(Result<Bounds, LogFailure>)> done) override {
    callbacks_.wrap(std::move(done))(stream_->bounds());
  }

  std::unique_ptr<LogReader> read(Offset from) override {
    return std::make_unique<FileLogReader>(logs_, stream_, callbacks_.loop(), from);
  }

  void trim(Offset begin, std::function<void(Result<void, LogFailure>)> done) override {
    auto tell = callbacks_.wrap(std::move(done));
    if (!logs_.writes()) return tell(Result<void, LogFailure>(read_only(logs_)));
    logs_.run([stream = stream_, begin, tell] {
      stream->trim(begin);
      tell(Result<void, LogFailure>());
    });
  }

 private:
  FileLogs::Impl& logs_;
  std::shared_ptr<FileStream> stream_;
  LoopCallbacks callbacks_;
};

class FileLogStore final : public LogStore {
 public:
  FileLogStore(FileLogs::Impl& logs, Scheduler& loop) : logs_(logs), callbacks_(loop) {}

  void create(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    change(std::move(done), [&logs = logs_, stream] { return logs.create(stream); });
  }
  void remove(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    change(std::move(done), [&logs = logs_, stream] { return logs.remove(stream); });
  }
  void open(StreamId stream, std::function<void(Result<std::unique_ptr<Log>, LogFailure>)> done) override {
    auto tell = callbacks_.wrap(
        [this, done = std::move(done)](Result<std::shared_ptr<FileStream>, LogFailure> loaded) {
          if (!loaded.ok()) return done(loaded.error());
          done(std::unique_ptr<Log>(std::make_unique<FileLog>(logs_, *loaded, callbacks_.loop())));
        });
    logs_.run([&logs = logs_, stream, tell] { tell(logs.load(stream)); });
  }

 private:
  void change(std::function<void(Result<void, LogFailure>)> done,
              std::function<Result<void, LogFailure>()> what) {
    auto tell = callbacks_.wrap(std::move(done));
    if (!logs_.writes()) return tell(Result<void, LogFailure>(read_only(logs_)));
    logs_.run([what = std::move(what), tell] { tell(what()); });
  }

  FileLogs::Impl& logs_;
  LoopCallbacks callbacks_;
};

}  // namespace

FileLogs::FileLogs(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileLogs::~FileLogs() = default;

Result<std::unique_ptr<FileLogs>> FileLogs::open(FileLogsOptions options) {
  FileAccess& access = options.stream.access;
  std::error_code error;
  if (access == FileAccess::ReadWrite && !std::filesystem::is_directory(options.directory, error)) {
    std::filesystem::create_directories(options.directory, error);
    if (error) return Error{options.directory.string() + ": can not create: " + error.message()};
    sync_directory(std::filesystem::absolute(options.directory).parent_path());
  }
  auto lock = lock_directory(options.directory, access);
  if (!lock.ok()) return lock.error();
  if (!lock->has_value()) access = FileAccess::ReadOnlyDurable;
  auto impl = std::make_unique<Impl>(std::move(options), std::move(*lock));
  if (impl->writes()) impl->clean_up();
  return std::unique_ptr<FileLogs>(new FileLogs(std::move(impl)));
}

std::unique_ptr<LogStore> FileLogs::connect(Scheduler& loop) {
  return std::make_unique<FileLogStore>(*impl_, loop);
}

FileAccess FileLogs::access() const {
  return impl_->options().stream.access;
}

Result<std::vector<StreamId>> FileLogs::streams() const {
  std::vector<StreamId> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(impl_->options().directory, error)) {
    if (const auto stream = parse_stream_name(entry.path().filename().string()); stream.ok()) {
      found.push_back(*stream);
    }
  }
  if (error) return Error{impl_->options().directory.string() + ": can not list: " + error.message()};
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tidemark
