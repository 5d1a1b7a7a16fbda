#include "wal/kafka_log.h"

#include <mutex>

#include "wal/kafka_admin.h"
#include "wal/kafka_consumers.h"
#include "wal/kafka_producer.h"
#include "wal/loop_callbacks.h"
#include "wal/stream_name.h"
#include "wal/work_pool.h"

namespace tidemark {
namespace {

constexpr const char* kTopicPrefix = "tidemark-";
constexpr size_t kThreads = 4;

}  // namespace

std::string kafka_topic_name(StreamId stream) {
  return kTopicPrefix + stream_name(stream);
}

// Everything made of it holds a reference: threads and callbacks run only while it is there.
class KafkaLogs::Impl final : KafkaEvents {
 public:
  static Result<std::unique_ptr<Impl>> make(KafkaLogsOptions options);

  void run(std::function<void()> job) { pool_.push(std::move(job)); }
  KafkaProducer& producer() { return *producer_; }
  KafkaConsumers& consumers() { return consumers_; }
  const KafkaAdmin& admin() const { return *admin_; }

 private:
  Impl(const KafkaSettings& settings, std::function<void(const std::string&)> notice)
      : notice_(std::move(notice)), consumers_(settings, notice_) {}
  void on_trouble(const std::string& what) override { notice_("Kafka: " + what); }

  const std::function<void(const std::string&)> notice_;
  KafkaPtr<rd_kafka_t> admin_handle_;
  std::unique_ptr<KafkaAdmin> admin_;
  std::unique_ptr<KafkaProducer> producer_;
  KafkaConsumers consumers_;
  WorkPool pool_{kThreads};  // Last: its jobs use the others.
};

Result<std::unique_ptr<KafkaLogs::Impl>> KafkaLogs::Impl::make(KafkaLogsOptions options) {
  const KafkaSettings settings{std::move(options.brokers), std::move(options.settings)};
  auto notice = options.notice ? std::move(options.notice) : [](const std::string&) {};
  std::unique_ptr<Impl> impl(new Impl(settings, notice));
  auto handle = make_kafka_consumer(settings, *impl);
  if (!handle.ok()) return handle.error();
  impl->admin_handle_ = std::move(*handle);
  impl->admin_ = std::make_unique<KafkaAdmin>(impl->admin_handle_.get());
  auto producer = KafkaProducer::make(settings, notice);
  if (!producer.ok()) return producer.error();
  impl->producer_ = std::move(*producer);
  return impl;
}

namespace {

class KafkaLogReader final : public LogReader {
 public:
  KafkaLogReader(KafkaLogs::Impl& logs, std::string topic, Scheduler& loop, Offset from)
      : logs_(logs), topic_(std::move(topic)), callbacks_(loop), next_(from) {}

  ~KafkaLogReader() override {
    logs_.run([slot = slot_] { slot->cancel(); });  // Stopping blocks: not here.
  }

  void next(size_t bytes_max, Done done) override {
    TM_ASSERT(!waiting_);
    waiting_ = std::move(done);
    bytes_max_ = bytes_max;
    // Never from inside the call.
    callbacks_.wrap([this] { started_ ? deliver() : start(); })();
  }

 private:
  // Where a thread of the pool leaves the reading. It is destroyed there, too, whatever became of the reader.
  class Slot {
   public:
    void put(std::shared_ptr<KafkaReading> reading) {
      const std::lock_guard lock(mutex_);
      if (!cancelled_) reading_ = std::move(reading);
    }
    void cancel() {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      reading_.reset();
    }
    KafkaReading* get() {
      const std::lock_guard lock(mutex_);
      return reading_.get();
    }

   private:
    std::mutex mutex_;
    bool cancelled_ = false;
    std::shared_ptr<KafkaReading> reading_;
  };

  void start() {
    started_ = true;
    auto started = callbacks_.wrap([this](const Result<void, LogFailure>& outcome) {
      outcome.ok() ? deliver() : finish(outcome.error());
    });
    auto ready = callbacks_.wrap([this] { deliver(); });
    logs_.run([&logs = logs_, slot = slot_, topic = topic_, from = next_, started, ready] {
      auto reading = logs.consumers().start(topic, from, ready);
      if (!reading.ok()) return started(Result<void, LogFailure>(reading.error()));
      slot->put(std::move(*reading));
      started(Result<void, LogFailure>());
    });
  }

  void deliver() {
    KafkaReading* reading = slot_->get();  // Stays until this is destroyed.
    if (!waiting_ || reading == nullptr) return;
    auto entries = reading->take(bytes_max_);
    if (!entries.ok() && entries.error().code == LogError::Trimmed) return explain(entries.error());
    if (entries.ok() && entries->empty()) return;  // `ready` follows.
    if (entries.ok()) next_ = Offset{entries->back().offset.value + 1};
    finish(std::move(entries));
  }

  // The offset is out of range: before the beginning, or, after brokers lost records, past the end.
  void explain(const LogFailure& failure) {
    auto explained = callbacks_.wrap([this, failure](const Result<Log::Bounds, LogFailure>& bounds) {
      if (bounds.ok() && next_ < bounds->begin) return finish(failure);
      finish(LogFailure{LogError::Unavailable, failure.message});
    });
    logs_.run([&logs = logs_, topic = topic_, explained] { explained(logs.admin().bounds(topic)); });
  }

  void finish(Result<std::vector<LogEntry>, LogFailure> outcome) {
    const Done done = std::exchange(waiting_, nullptr);
    done(std::move(outcome));
  }

  KafkaLogs::Impl& logs_;
  const std::string topic_;
  LoopCallbacks callbacks_;
  Offset next_;
  size_t bytes_max_ = 0;
  Done waiting_;
  bool started_ = false;
  const std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

class KafkaLog final : public Log {
 public:
  KafkaLog(KafkaLogs::Impl& logs, std::string topic, Scheduler& loop)
      : logs_(logs), topic_(std::move(topic)), callbacks_(loop) {}

  void append(std::string bytes, AppendDone done) override {
    TM_ASSERT(bytes.size() <= kLogEntryBytesMax, bytes.size());
    logs_.producer().append(
        topic_, bytes,
        callbacks_.wrap([done = std::move(done)](const Result<Offset, LogFailure>& at) { done(at); }));
  }

  void bounds(std::function<void(Result<Bounds, LogFailure>)> done) override {
    auto tell = callbacks_.wrap(std::move(done));
    logs_.run([&logs = logs_, topic = topic_, tell] { tell(logs.admin().bounds(topic)); });
  }

  std::unique_ptr<LogReader> read(Offset from) override {
    return std::make_unique<KafkaLogReader>(logs_, topic_, callbacks_.loop(), from);
  }

  void trim(Offset begin, std::function<void(Result<void, LogFailure>)> done) override {
    auto tell = callbacks_.wrap(std::move(done));
    logs_.run([&logs = logs_, topic = topic_, begin, tell] { tell(logs.admin().trim(topic, begin)); });
  }

 private:
  KafkaLogs::Impl& logs_;
  const std::string topic_;
  LoopCallbacks callbacks_;
};

class KafkaLogStore final : public LogStore {
 public:
  KafkaLogStore(KafkaLogs::Impl& logs, Scheduler& loop) : logs_(logs), callbacks_(loop) {}

  void create(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    auto tell = callbacks_.wrap(std::move(done));
    logs_.run([&logs = logs_, topic = kafka_topic_name(stream), tell] { tell(logs.admin().create(topic)); });
  }
  void remove(StreamId stream, std::function<void(Result<void, LogFailure>)> done) override {
    auto tell = callbacks_.wrap(std::move(done));
    logs_.run([&logs = logs_, topic = kafka_topic_name(stream), tell] {
      logs.producer().forget(topic);
      tell(logs.admin().remove(topic));
    });
  }
  void open(StreamId stream, std::function<void(Result<std::unique_ptr<Log>, LogFailure>)> done) override {
    const std::string topic = kafka_topic_name(stream);
    auto tell =
        callbacks_.wrap([this, topic, done = std::move(done)](const Result<void, LogFailure>& checked) {
          if (!checked.ok()) return done(checked.error());
          done(std::unique_ptr<Log>(std::make_unique<KafkaLog>(logs_, topic, callbacks_.loop())));
        });
    logs_.run([&logs = logs_, topic, tell] {
      const auto checked = logs.admin().check(topic);
      if (checked.ok()) logs.producer().prepare(topic);
      tell(checked);
    });
  }

 private:
  KafkaLogs::Impl& logs_;
  LoopCallbacks callbacks_;
};

}  // namespace

KafkaLogs::KafkaLogs(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KafkaLogs::~KafkaLogs() = default;

Result<std::unique_ptr<KafkaLogs>> KafkaLogs::open(KafkaLogsOptions options) {
  auto impl = Impl::make(std::move(options));
  if (!impl.ok()) return impl.error();
  return std::unique_ptr<KafkaLogs>(new KafkaLogs(std::move(*impl)));
}

std::unique_ptr<LogStore> KafkaLogs::connect(Scheduler& loop) {
  return std::make_unique<KafkaLogStore>(*impl_, loop);
}

Result<std::vector<StreamId>> KafkaLogs::streams() const {
  const auto topics = impl_->admin().topics();
  if (!topics.ok()) return Error{topics.error().message};
  std::vector<StreamId> found;
  const std::string prefix = kTopicPrefix;
  for (const std::string& topic : *topics) {
    if (!topic.starts_with(prefix)) continue;
    const auto stream = parse_stream_name(topic.substr(prefix.size()));
    if (stream.ok()) found.push_back(*stream);
  }
  return found;
}

void KafkaLogs::break_producer() {
  impl_->producer().break_handle();
}
uint64_t KafkaLogs::producers_made() const {
  return impl_->producer().handles_made();
}

}  // namespace tidemark
