#include "wal/memory_log.h"

#include <algorithm>
#include <deque>
#include <functional>

#include "base/mutation.h"
#include "wal/loop_callbacks.h"
#include "wal/record.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

LogFailure no_such_stream(StreamId stream) {
  return {LogError::Refused, "stream " + stream_name(stream) + " does not exist"};
}
LogFailure store_is_gone() {
  return {LogError::Unavailable, "the log store does not answer"};
}
LogFailure unknown_outcome(const char* why) {
  return {LogError::OutcomeUnknown, why};
}

bool is_fence(std::string_view record) {
  const auto header = decode_record_header(record);
  return header.ok() && header->kind == RecordKind::Fence;
}

struct MemoryStream {
  Offset begin;
  std::deque<std::string> entries;
  size_t durable = 0;                                    // Of `entries`, from the front.
  std::multimap<Offset, std::function<void()>> waiting;  // By the offset to read.
  // No append of a process lands before those that it sent earlier; processes know nothing of each other.
  std::map<uint64_t, Micros> lands_at;
  std::map<uint64_t, Micros> told_at;  // By process: when it hears of its last append that went well.

  Offset durable_end() const { return Offset{begin.value + durable}; }
  // Readers stop at the durable end.
  Offset readable_end() const {
    return TM_MUTATION("unsynced file read") ? Offset{begin.value + entries.size()} : durable_end();
  }
  const std::string& at(Offset offset) const { return entries[offset.value - begin.value]; }
};

}  // namespace

class MemoryLogs::Impl : public std::enable_shared_from_this<MemoryLogs::Impl> {
 public:
  Impl(MemoryLogKind kind, Scheduler& world, Random random, MemoryLogFaults faults)
      : kind_(kind), world_(world), random_(random), faults_(faults) {}

  using Report = std::function<void(Result<Offset, LogFailure>)>;

  void append(StreamId id, uint64_t process, std::string bytes, Report report);
  void answer(std::function<void(bool available)> reply);
  void when_readable(StreamId id, Offset from, std::function<void()> ready);
  void crash();

  std::shared_ptr<MemoryStream> find(StreamId id) const {
    const auto it = streams_.find(id);
    return it == streams_.end() ? nullptr : it->second;
  }
  void create(StreamId id) {
    if (!streams_.contains(id)) streams_[id] = std::make_shared<MemoryStream>();
  }
  void remove(StreamId id) {
    const auto stream = find(id);
    if (stream == nullptr) return;
    if (observer_ != nullptr) observer_->on_removed(id);
    streams_.erase(id);
    for (auto& [from, ready] : std::exchange(stream->waiting, {})) ready();
  }
  void trim(StreamId id, MemoryStream& stream, Offset begin);
  void set_available(bool available);
  bool refuses() { return kind_ == MemoryLogKind::Kafka && happens(faults_.refused, counters_.refused); }
  uint64_t next_process() { return processes_++; }
  void set_observer(MemoryLogObserver* observer) { observer_ = observer; }

  MemoryLogFaults& faults() { return faults_; }
  const MemoryLogCounters& counters() const { return counters_; }

 private:
  struct Fate {
    bool lands = true;
    bool copied = false;
    Micros late{};
    std::function<Result<Offset, LogFailure>(Offset first, Offset last)> outcome;
  };

  bool happens(double probability, uint64_t& counter) {
    if (!random_.chance(probability)) return false;
    ++counter;
    return true;
  }
  Micros delay(Micros most) { return Micros{random_.between(0, most.value)}; }
  Fate draw_fate(const std::string& bytes);
  void land(StreamId id, std::string bytes, const Fate& fate, const Report& report);
  Report told_later(std::shared_ptr<MemoryStream> stream, uint64_t process, Report report);
  Offset put(StreamId id, MemoryStream& stream, std::string bytes);
  void make_durable(StreamId id, MemoryStream& stream, Offset end);
  void sync(StreamId id, Offset end, std::function<void()> done);
  void wake(MemoryStream& stream);
  void later(Micros after, std::function<void()> task);

  const MemoryLogKind kind_;
  Scheduler& world_;
  Random random_;
  MemoryLogFaults faults_;
  MemoryLogCounters counters_;
  std::map<StreamId, std::shared_ptr<MemoryStream>> streams_;
  bool available_ = true;
  std::vector<std::function<void()>> until_available_;
  uint64_t processes_ = 0;
  uint64_t crashes_ = 0;
  MemoryLogObserver* observer_ = nullptr;
};

// Runs `task` on the world's scheduler unless the machine stopped meanwhile (Disk).
void MemoryLogs::Impl::later(Micros after, std::function<void()> task) {
  world_.post_after(after, [weak = weak_from_this(), crashes = crashes_, task = std::move(task)] {
    const auto self = weak.lock();
    if (self != nullptr && self->crashes_ == crashes) task();
  });
}

MemoryLogs::Impl::Fate MemoryLogs::Impl::draw_fate(const std::string& bytes) {
  Fate fate;
  fate.outcome = [](Offset first, Offset) { return first; };
  auto unknown = [](const char* why) { return [why](Offset, Offset) { return unknown_outcome(why); }; };
  if (happens(faults_.unknown, counters_.unknown)) fate.outcome = unknown("no answer came");
  if (kind_ == MemoryLogKind::Disk) return fate;
  if (happens(faults_.late, counters_.late) ||
      (faults_.late_fence > 0 && is_fence(bytes) && happens(faults_.late_fence, counters_.late))) {
    fate.late = Micros{1 + delay(faults_.late_delay_max).value};
    fate.outcome = unknown("the connection broke");
  } else if (happens(faults_.lost, counters_.lost)) {
    fate.lands = false;
    fate.outcome = unknown("the connection broke");
  } else if (happens(faults_.no_offset, counters_.no_offset)) {
    fate.outcome = unknown("acknowledged without an offset");
  } else if (happens(faults_.duplicate, counters_.duplicate)) {
    fate.copied = true;
  } else if (happens(faults_.duplicate_reported, counters_.duplicate_reported)) {
    fate.copied = true;
    fate.outcome = [](Offset, Offset last) { return last; };
  }
  return fate;
}

void MemoryLogs::Impl::append(StreamId id, uint64_t process, std::string bytes, Report report) {
  ++counters_.appends;
  counters_.largest_append_bytes = std::max<uint64_t>(counters_.largest_append_bytes, bytes.size());
  const auto stream = find(id);
  if (stream == nullptr) return later(Micros{}, [report, id] { report(no_such_stream(id)); });
  if (kind_ == MemoryLogKind::Disk && happens(faults_.full, counters_.full)) {
    return later(Micros{}, [report] { report(LogFailure{LogError::Unavailable, "no room on the disk"}); });
  }
  Micros& lands_at = stream->lands_at[process];
  lands_at = std::max(lands_at, Micros{world_.now().value + delay(faults_.append_delay_max).value});
  const Fate fate = draw_fate(bytes);
  if (kind_ == MemoryLogKind::Kafka) report = told_later(stream, process, std::move(report));
  later(Micros{lands_at.value - world_.now().value},
        [this, id, bytes = std::move(bytes), fate, report] { land(id, bytes, fate, report); });
}

// An outcome is on its way for a while: others read the entry meanwhile, and later appends land. What went
// well is told in the order of the appends; bad news may come before it.
MemoryLogs::Impl::Report MemoryLogs::Impl::told_later(std::shared_ptr<MemoryStream> stream, uint64_t process,
                                                      Report report) {
  return [this, stream, process, report = std::move(report)](const Result<Offset, LogFailure>& outcome) {
    Micros at{world_.now().value + delay(faults_.append_delay_max).value};
    if (outcome.ok()) at = stream->told_at[process] = std::max(at, stream->told_at[process]);
    later(Micros{at.value - world_.now().value}, [report, outcome] { report(outcome); });
  };
}

void MemoryLogs::Impl::land(StreamId id, std::string bytes, const Fate& fate, const Report& report) {
  if (!available_) {
    until_available_.push_back(
        [this, id, bytes = std::move(bytes), fate, report] { land(id, bytes, fate, report); });
    return;
  }
  if (fate.late.value > 0) {
    report(fate.outcome(Offset{}, Offset{}));
    Fate at_last;
    at_last.outcome = fate.outcome;
    return later(fate.late, [this, id, bytes = std::move(bytes), at_last] {
      land(id, bytes, at_last, [](const Result<Offset, LogFailure>&) {});
    });
  }
  const auto stream = find(id);
  if (stream == nullptr) return report(no_such_stream(id));
  if (!fate.lands) return report(fate.outcome(Offset{}, Offset{}));
  const Offset first = put(id, *stream, bytes);
  auto finish = [this, id, bytes, fate, report, first] {
    if (!fate.copied) return report(fate.outcome(first, first));
    later(delay(faults_.append_delay_max), [this, id, bytes, fate, report, first] {
      const auto again = find(id);
      report(fate.outcome(first, again == nullptr ? first : put(id, *again, bytes)));
    });
  };
  if (kind_ == MemoryLogKind::Kafka) return finish();
  sync(id, Offset{first.value + 1}, finish);
}

Offset MemoryLogs::Impl::put(StreamId id, MemoryStream& stream, std::string bytes) {
  const Offset at{stream.begin.value + stream.entries.size()};
  stream.entries.push_back(std::move(bytes));
  if (kind_ == MemoryLogKind::Kafka) make_durable(id, stream, Offset{at.value + 1});
  if (TM_MUTATION("unsynced file read")) wake(stream);
  return at;
}

void MemoryLogs::Impl::make_durable(StreamId id, MemoryStream& stream, Offset end) {
  while (stream.durable_end() < end) {
    const Offset at = stream.durable_end();
    ++stream.durable;
    if (observer_ != nullptr) observer_->on_durable(id, at, stream.at(at));
  }
  wake(stream);
}

void MemoryLogs::Impl::trim(StreamId id, MemoryStream& stream, Offset begin) {
  TM_ASSERT(begin <= stream.durable_end(), begin);
  if (observer_ != nullptr) observer_->on_trimmed(id, begin);
  while (stream.begin < begin) {
    stream.entries.pop_front();
    --stream.durable;
    ++stream.begin.value;
  }
}

void MemoryLogs::Impl::sync(StreamId id, Offset end, std::function<void()> done) {
  later(delay(faults_.append_delay_max), [this, id, end, done = std::move(done)] {
    const auto stream = find(id);
    if (stream != nullptr) make_durable(id, *stream, end);
    done();
  });
}

void MemoryLogs::Impl::wake(MemoryStream& stream) {
  while (!stream.waiting.empty() && stream.waiting.begin()->first < stream.readable_end()) {
    const auto ready = std::move(stream.waiting.extract(stream.waiting.begin()).mapped());
    ready();
  }
}

// Answers a question: after a while, and not always.
void MemoryLogs::Impl::answer(std::function<void(bool)> reply) {
  const bool fails = happens(faults_.unavailable, counters_.unavailable);
  later(delay(faults_.read_delay_max),
        [this, fails, reply = std::move(reply)] { reply(available_ && !fails); });
}

void MemoryLogs::Impl::when_readable(StreamId id, Offset from, std::function<void()> ready) {
  const auto stream = find(id);
  if (stream == nullptr || from < stream->readable_end()) return ready();
  stream->waiting.emplace(from, std::move(ready));
}

void MemoryLogs::Impl::set_available(bool available) {
  available_ = available;
  if (!available) return;
  for (auto& task : std::exchange(until_available_, {})) task();
}

void MemoryLogs::Impl::crash() {
  TM_ASSERT(kind_ == MemoryLogKind::Disk);
  ++crashes_;
  until_available_.clear();
  for (auto& [id, stream] : streams_) {
    const size_t unsynced = stream->entries.size() - stream->durable;
    const size_t kept = unsynced == 0 ? 0 : static_cast<size_t>(random_.below(unsynced + 1));
    counters_.crash_kept += kept;
    counters_.crash_lost += unsynced - kept;
    if (kept < unsynced) happens(faults_.torn, counters_.torn);  // Cut off by the recovery: as good as lost.
    stream->entries.resize(stream->durable + kept);
    stream->waiting.clear();
    make_durable(id, *stream, Offset{stream->begin.value + stream->entries.size()});
    stream->lands_at.clear();
  }
}

namespace {

// What the objects of one process share.
struct Process {
  std::shared_ptr<MemoryLogs::Impl> logs;
  Scheduler& loop;
  uint64_t number;
};

class MemoryLogReader final : public LogReader {
 public:
  MemoryLogReader(const Process& process, StreamId stream, Offset from)
      : process_(process), callbacks_(process.loop), stream_(stream), next_(from) {}

  void next(size_t bytes_max, Done done) override {
    auto deliver = callbacks_.wrap([this, bytes_max, done](bool available) {
      if (!available) return done(store_is_gone());
      done(take(bytes_max));
    });
    process_.logs->when_readable(stream_, next_, [logs = std::weak_ptr(process_.logs), deliver] {
      if (const auto there = logs.lock()) there->answer(deliver);
    });
  }

 private:
  Result<std::vector<LogEntry>, LogFailure> take(size_t bytes_max) {
    const auto stream = process_.logs->find(stream_);
    if (stream == nullptr) return no_such_stream(stream_);
    if (next_ < stream->begin) {
      return LogFailure{LogError::Trimmed, "stream " + stream_name(stream_) + " begins at offset " +
                                               std::to_string(stream->begin.value) + ", after " +
                                               std::to_string(next_.value)};
    }
    std::vector<LogEntry> entries;
    for (size_t bytes = 0; next_ < stream->readable_end() && bytes < bytes_max; ++next_.value) {
      entries.push_back({next_, stream->entries[next_.value - stream->begin.value]});
      bytes += entries.back().bytes.size();
    }
    TM_ASSERT(!entries.empty());
    return entries;
  }

  Process process_;
  LoopCallbacks callbacks_;
  StreamId stream_;
  Offset next_;
};

class MemoryLog final : public Log {
 public:
  MemoryLog(const Process& process, StreamId stream)
      : process_(process), callbacks_(process.loop), stream_(stream) {}

  void append(std::string bytes, AppendDone done) override {
    TM_ASSERT(bytes.size() <= kLogEntryBytesMax, bytes.size());
    process_.logs->append(stream_, process_.number, std::move(bytes), callbacks_.wrap(std::move(done)));
  }

  void bounds(std::function<void(Result<Bounds, LogFailure>)> done) override {
    process_.logs->answer(callbacks_.wrap([this, done](bool available) {
      const auto stream = process_.logs->find(stream_);
      if (!available) return done(store_is_gone());
      if (stream == nullptr) return done(no_such_stream(stream_));
      done(Bounds{stream->begin, stream->readable_end()});
    }));
  }

  std::unique_ptr<LogReader> read(Offset from) override {
    return std::make_unique<MemoryLogReader>(process_, stream_, from);
  }

  void trim(Offset begin, std::function<void(Result<void, LogFailure>)> done) override {
    process_.logs->answer(callbacks_.wrap([this, begin, done](bool available) {
      const auto stream = process_.logs->find(stream_);
      if (!available) return done(store_is_gone());
      if (stream == nullptr) return done(no_such_stream(stream_));
      process_.logs->trim(stream_, *stream, begin);
      done({});
    }));
  }

 private:
  Process process_;
  LoopCallbacks callbacks_;
  StreamId stream_;
};

class MemoryLogStore final : public LogStore {
 public:
  explicit MemoryLogStore(const Process& process) : process_(process), callbacks_(process.loop) {}

  void create(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    change(done, [this, stream] { process_.logs->create(stream); });
  }
  void remove(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    change(done, [this, stream] { process_.logs->remove(stream); });
  }
  void open(StreamId stream, std::function<void(Result<std::unique_ptr<Log>, LogFailure>)> done) override {
    process_.logs->answer(callbacks_.wrap([this, stream, done](bool available) {
      if (!available) return done(store_is_gone());
      if (process_.logs->find(stream) == nullptr || process_.logs->refuses())
        return done(no_such_stream(stream));
      done(std::unique_ptr<Log>(std::make_unique<MemoryLog>(process_, stream)));
    }));
  }

 private:
  void change(std::function<void(Result<void, LogFailure>)> done, std::function<void()> what) {
    process_.logs->answer(callbacks_.wrap([done = std::move(done), what = std::move(what)](bool available) {
      if (!available) return done(store_is_gone());
      what();
      done({});
    }));
  }

  Process process_;
  LoopCallbacks callbacks_;
};

}  // namespace

MemoryLogs::MemoryLogs(MemoryLogKind kind, Scheduler& world, Random random, MemoryLogFaults faults)
    : impl_(std::make_shared<Impl>(kind, world, random, faults)) {}
MemoryLogs::~MemoryLogs() = default;

void MemoryLogs::set_faults(const MemoryLogFaults& faults) {
  impl_->faults() = faults;
}
void MemoryLogs::set_observer(MemoryLogObserver* observer) {
  impl_->set_observer(observer);
}
void MemoryLogs::set_available(bool available) {
  impl_->set_available(available);
}
void MemoryLogs::crash() {
  impl_->crash();
}
const MemoryLogCounters& MemoryLogs::counters() const {
  return impl_->counters();
}

std::vector<LogEntry> MemoryLogs::entries(StreamId stream) const {
  std::vector<LogEntry> all;
  const auto found = impl_->find(stream);
  if (found == nullptr) return all;
  for (const std::string& bytes : found->entries)
    all.push_back({Offset{found->begin.value + all.size()}, bytes});
  return all;
}

std::unique_ptr<LogStore> MemoryLogs::connect(Scheduler& process) {
  return std::make_unique<MemoryLogStore>(Process{impl_, process, impl_->next_process()});
}

}  // namespace tidemark
