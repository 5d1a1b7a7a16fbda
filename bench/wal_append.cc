// Appending to a log through Wal, in files and in Kafka, against the plainest loop that could do the same:
// write and fdatasync, or librdkafka alone. Both run in turn, several times; the table shows the medians and
// their ratio.
#include <fcntl.h>
#include <librdkafka/rdkafka.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <random>

#include "net/asio_loop.h"
#include "tests/servers/kafka.h"
#include "wal/file_log.h"
#include "wal/kafka_log.h"
#include "wal/wal.h"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRounds = 5;

struct Work {
  const char* name;
  size_t record_bytes;
  size_t records;
  size_t in_flight;
};

struct Measured {
  double megabytes_per_second = 0;
  double cpu_millis_per_megabyte = 0;
  double p50_micros = 0;
  double p99_micros = 0;
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string random_payload(size_t size) {
  std::mt19937_64 random(1);
  std::string payload(size, '\0');
  for (char& byte : payload) byte = static_cast<char>(random());
  return payload;
}

// Times one run: begin() before it, sent() and acknowledged() for each record, in the same order.
class Meter {
 public:
  explicit Meter(const Work& work) : work_(work) { sent_.reserve(work.records); }
  void begin() {
    start_ = Clock::now();
    cpu_ = cpu_seconds();
  }
  void sent() { sent_.push_back(Clock::now()); }
  void acknowledged() {
    const std::chrono::duration<double, std::micro> took = Clock::now() - sent_[latencies_.size()];
    latencies_.push_back(took.count());
  }
  size_t count_sent() const { return sent_.size(); }
  size_t count_acknowledged() const { return latencies_.size(); }
  Measured end() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double megabytes = static_cast<double>(work_.record_bytes * work_.records) / 1e6;
    std::sort(latencies_.begin(), latencies_.end());
    return {megabytes / seconds, (cpu_seconds() - cpu_) * 1e3 / megabytes, latencies_[latencies_.size() / 2],
            latencies_[latencies_.size() * 99 / 100]};
  }

 private:
  const Work& work_;
  Clock::time_point start_;
  double cpu_ = 0;
  std::vector<Clock::time_point> sent_;
  std::vector<double> latencies_;
};

// Keeps `in_flight` appends under way until all are acknowledged.
class WalRun : public WalListener {
 public:
  WalRun(const Work& work, StreamId stream, std::unique_ptr<Log> log, Scheduler& loop)
      : work_(work),
        meter_(work),
        payload_(random_payload(work.record_bytes)),
        wal_(stream, std::move(log), {}, loop, *this) {
    wal_.open(MapVersion{1}, 1);
  }
  std::future<Measured> outcome() { return outcome_.get_future(); }

  void on_opened(Offset) override {
    meter_.begin();
    for (size_t i = 0; i < work_.in_flight; ++i) send();
  }
  void on_record(Offset, const WalRecord& record, const ReaderState&) override {
    if (record.header.kind != RecordKind::Body) return;
    meter_.acknowledged();
    if (meter_.count_acknowledged() == work_.records) return outcome_.set_value(meter_.end());
    send();
  }
  void on_ended(EndReason) override { give_up("the incarnation ended"); }
  void on_caught_up(Offset) override {}
  void on_failed(const LogFailure& failure) override { give_up(failure.message); }
  void on_waiting(const LogFailure&) override {}

 private:
  void send() {
    if (meter_.count_sent() == work_.records) return;
    meter_.sent();
    wal_.append(RecordKind::Body, payload_);
  }
  const Work& work_;
  Meter meter_;
  std::string payload_;
  std::promise<Measured> outcome_;
  Wal wal_;
};

Measured run_wal(const Work& work, LogStore& store, AsioLoop& loop) {
  static uint64_t region = 0;
  const StreamId stream{0xbe7c4, RegionId{++region}};
  std::promise<std::unique_ptr<Log>> opened;
  loop.run([&] {
    store.create(stream, [&, stream](auto created) {
      if (!created.ok()) give_up(created.error().message);
      store.open(stream, [&](auto log) { opened.set_value(std::move(*log)); });
    });
  });
  auto log = opened.get_future().get();
  std::unique_ptr<WalRun> running;
  std::future<Measured> outcome;
  loop.run([&] {
    running = std::make_unique<WalRun>(work, stream, std::move(log), loop);
    outcome = running->outcome();
  });
  const Measured measured = outcome.get();
  loop.run([&] { running.reset(); });
  return measured;
}

// Groups as large as what Wal has in flight, each one write and one fdatasync.
Measured run_bare_file(const Work& work, const std::filesystem::path& directory) {
  const auto path = directory / "bare";
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  std::string payload = random_payload(work.record_bytes);
  Meter meter(work);
  meter.begin();
  for (size_t done = 0; done < work.records;) {
    const size_t group = std::min(work.in_flight, work.records - done);
    std::vector<iovec> pieces(group, {payload.data(), payload.size()});
    for (size_t i = 0; i < group; ++i) meter.sent();
    if (::writev(file, pieces.data(), static_cast<int>(group)) < 0 || ::fdatasync(file) != 0) std::abort();
    for (size_t i = 0; i < group; ++i) meter.acknowledged();
    done += group;
  }
  ::close(file);
  std::filesystem::remove(path);
  return meter.end();
}

// librdkafka with the settings of the log, polled by the thread that produces.
class BareKafka {
 public:
  explicit BareKafka(const std::string& brokers) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    std::array<char, 256> reason{};
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"bootstrap.servers", brokers},
                                      {"enable.idempotence", "true"},
                                      {"linger.ms", "0"},
                                      {"message.max.bytes", "1004096"}}) {
      rd_kafka_conf_set(conf, name, value.c_str(), reason.data(), reason.size());
    }
    rd_kafka_conf_set_opaque(conf, &meter_pointer_);
    rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t*, void* opaque) {
      (*static_cast<Meter**>(opaque))->acknowledged();
    });
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason.data(), reason.size());
  }
  ~BareKafka() { rd_kafka_destroy(handle_); }
  BareKafka(const BareKafka&) = delete;
  BareKafka& operator=(const BareKafka&) = delete;

  Measured run(const Work& work, const std::string& topic) {
    const std::string payload = random_payload(work.record_bytes);
    Work warm_up = work;
    warm_up.records = 1;
    Meter first(warm_up);
    produce(first, topic, payload, warm_up);
    Meter meter(work);
    meter.begin();
    produce(meter, topic, payload, work);
    return meter.end();
  }

 private:
  void produce(Meter& meter, const std::string& topic, const std::string& payload, const Work& work) {
    meter_pointer_ = &meter;
    while (meter.count_acknowledged() < work.records) {
      while (meter.count_sent() < work.records &&
             meter.count_sent() - meter.count_acknowledged() < work.in_flight) {
        meter.sent();
        rd_kafka_producev(handle_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
      }
      rd_kafka_poll(handle_, 100);
    }
  }
  rd_kafka_t* handle_ = nullptr;
  Meter* meter_pointer_ = nullptr;
};

Measured median(std::vector<Measured> runs) {
  auto middle = [&](auto member) {
    std::vector<double> values;
    for (const Measured& run : runs) values.push_back(run.*member);
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  return {middle(&Measured::megabytes_per_second), middle(&Measured::cpu_millis_per_megabyte),
          middle(&Measured::p50_micros), middle(&Measured::p99_micros)};
}

void compare(const char* store, const Work& work, const std::function<Measured()>& wal,
             const std::function<Measured()>& bare) {
  std::vector<Measured> wal_runs;
  std::vector<Measured> bare_runs;
  for (int round = 0; round < kRounds; ++round) {
    bare_runs.push_back(bare());
    wal_runs.push_back(wal());
  }
  const Measured a = median(wal_runs);
  const Measured b = median(bare_runs);
  auto ratio = [](double x, double y) { return y == 0 ? 0 : x / y; };
  std::printf("| %s, %s | %.1f / %.1f | %.2f | %.1f / %.1f | %.2f | %.2f / %.2f | %.2f / %.2f |\n", store,
              work.name, a.megabytes_per_second, b.megabytes_per_second,
              ratio(a.megabytes_per_second, b.megabytes_per_second), a.cpu_millis_per_megabyte,
              b.cpu_millis_per_megabyte, ratio(a.cpu_millis_per_megabyte, b.cpu_millis_per_megabyte),
              a.p50_micros / 1e3, b.p50_micros / 1e3, a.p99_micros / 1e3, b.p99_micros / 1e3);
  std::fflush(stdout);
}

const Work kWorks[] = {
    {"4 kB, 1 in flight", 4'000, 1'000, 1},
    {"4 kB, 64 in flight", 4'000, 20'000, 64},
    {"256 kB, 1 in flight", 256'000, 200, 1},
    {"256 kB, 8 in flight", 256'000, 800, 8},
};

void bench_files(const std::filesystem::path& directory) {
  AsioLoop loop("bench");
  auto logs = FileLogs::open({directory / "wal-bench", {}});
  if (!logs.ok()) give_up(logs.error().message);
  std::unique_ptr<LogStore> store;
  loop.run([&] { store = (*logs)->connect(loop); });
  for (const Work& work : kWorks) {
    compare(
        "files", work, [&] { return run_wal(work, *store, loop); },
        [&] { return run_bare_file(work, directory); });
  }
  loop.run([&] { store.reset(); });
  logs->reset();
  std::filesystem::remove_all(directory / "wal-bench");
}

void bench_kafka() {
  const servers::KafkaCluster kafka;
  AsioLoop loop("bench");
  auto logs = KafkaLogs::open({.brokers = kafka.bootstrap()});
  if (!logs.ok()) give_up(logs.error().message);
  std::unique_ptr<LogStore> store;
  loop.run([&] { store = (*logs)->connect(loop); });
  const StreamId bare{0xbe7c4, RegionId{1'000'000}};
  std::promise<void> created;
  loop.run([&] { store->create(bare, [&](auto) { created.set_value(); }); });
  created.get_future().wait();
  {
    BareKafka client(kafka.bootstrap());
    for (const Work& work : kWorks) {
      compare(
          "Kafka", work, [&] { return run_wal(work, *store, loop); },
          [&] { return client.run(work, kafka_topic_name(bare)); });
    }
  }
  loop.run([&] { store.reset(); });
  logs->reset();
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(
        stderr,
        "usage: bench_wal_append DIRECTORY (on the disk to be measured; Kafka is started beside it)\n");
    return 2;
  }
  std::printf(
      "| store, record | MB/s: wal / bare | ratio | CPU ms per MB: wal / bare | ratio | p50 ms: wal / bare | "
      "p99 ms: wal / bare |\n|---|---|---|---|---|---|---|\n");
  tidemark::bench_files(argv[1]);
  if (tidemark::servers::kafka_jars()) tidemark::bench_kafka();
  return 0;
}
