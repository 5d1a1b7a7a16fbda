#include "cli/wal_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/wal_dump.h"
#include "net/asio_loop.h"
#include "wal/file_log.h"
#include "wal/kafka_log.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;

struct Arguments {
  std::string stream;
  std::string directory;
  std::string brokers;
  std::vector<std::string> kafka_settings;  // "name=value".
  uint64_t from = 0;
  bool as_json = false;
};

// Whichever store was named.
struct Store {
  std::unique_ptr<FileLogs> files;
  std::unique_ptr<KafkaLogs> kafka;

  std::unique_ptr<LogStore> connect(Scheduler& loop) {
    return files != nullptr ? files->connect(loop) : kafka->connect(loop);
  }
  Result<std::vector<StreamId>> streams() const {
    return files != nullptr ? files->streams() : kafka->streams();
  }
};

void notice(const std::string& what) {
  std::fprintf(stderr, "tidemark wal: %s\n", what.c_str());
}

Result<Store> open_store(const Arguments& arguments) {
  Store store;
  if (!arguments.directory.empty()) {
    auto files = FileLogs::open({arguments.directory, {.access = FileAccess::ReadOnly, .notice = notice}});
    if (!files.ok()) return files.error();
    store.files = std::move(*files);
    if (store.files->access() == FileAccess::ReadOnlyDurable) {
      notice("a process writes these logs: what it wrote last may be missing here");
    }
    return store;
  }
  KafkaLogsOptions options{.brokers = arguments.brokers, .notice = notice};
  for (const std::string& setting : arguments.kafka_settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) return Error{"--kafka takes name=value"};
    options.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  auto kafka = KafkaLogs::open(std::move(options));
  if (!kafka.ok()) return kafka.error();
  store.kafka = std::move(*kafka);
  return store;
}

// Prints a stream from its beginning to the end as it is now. Lives on the loop.
class Dump {
 public:
  Dump(const Arguments& arguments, StreamId stream, std::unique_ptr<LogStore> store)
      : arguments_(arguments), stream_(stream), store_(std::move(store)) {}

  std::future<int> start() {
    store_->open(stream_, [this](Result<std::unique_ptr<Log>, LogFailure> log) {
      if (!log.ok()) return fail(log.error());
      log_ = std::move(*log);
      log_->bounds([this](Result<Log::Bounds, LogFailure> bounds) {
        if (!bounds.ok()) return fail(bounds.error());
        end_ = bounds->end;
        is_judged_ = bounds->begin == Offset{0} ? Judged::Yes : Judged::No;
        ReaderState start;
        start.next = bounds->begin;
        reader_ = std::make_unique<StreamReader>(stream_, *log_, start, kReadBytes);
        read_on();
      });
    });
    return outcome_.get_future();
  }

 private:
  void read_on() {
    if (reader_->state().next >= end_) return outcome_.set_value(kDone);
    reader_->next([this](Result<std::vector<JudgedRecord>, LogFailure> read) {
      if (!read.ok()) return fail(read.error());
      for (const JudgedRecord& record : *read) print(record);
      read_on();
    });
  }

  void print(const JudgedRecord& record) {
    if (record.record.header.kind == RecordKind::Fence) is_judged_ = Judged::Yes;
    if (record.at >= end_ || record.at.value < arguments_.from) return;
    const auto line = arguments_.as_json ? dump_as_json(record, is_judged_, describe_payload)
                                         : dump_as_text(record, is_judged_, describe_payload);
    std::printf("%s\n", line.c_str());
  }

  void fail(const LogFailure& failure) {
    std::fflush(stdout);
    notice(failure.message);
    outcome_.set_value(kFailed);
  }

  const Arguments& arguments_;
  const StreamId stream_;
  std::unique_ptr<LogStore> store_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<StreamReader> reader_;
  Offset end_;
  Judged is_judged_ = Judged::Yes;
  std::promise<int> outcome_;
};

int dump(const Arguments& arguments) {
  const auto stream = parse_stream_name(arguments.stream);
  if (!stream.ok()) {
    notice(stream.error().message);
    return kWrongUsage;
  }
  AsioLoop loop("wal");
  auto store = open_store(arguments);
  if (!store.ok()) {
    notice(store.error().message);
    return kFailed;
  }
  std::unique_ptr<Dump> dumping;
  std::future<int> outcome;
  loop.run([&] {
    dumping = std::make_unique<Dump>(arguments, *stream, store->connect(loop));
    outcome = dumping->start();
  });
  const int code = outcome.get();
  loop.run([&] { dumping.reset(); });
  return code;
}

int list(const Arguments& arguments) {
  auto store = open_store(arguments);
  const auto streams = store.ok() ? store->streams() : Result<std::vector<StreamId>>(store.error());
  if (!streams.ok()) {
    notice(streams.error().message);
    return kFailed;
  }
  for (const StreamId stream : *streams) {
    if (arguments.as_json) {
      std::printf("{\"stream\": \"%s\", \"region\": %llu}\n", stream_name(stream).c_str(),
                  static_cast<unsigned long long>(stream.region.value));
    } else {
      std::printf("%s\n", stream_name(stream).c_str());
    }
  }
  return kDone;
}

void add_store_options(CLI::App& command, Arguments& arguments) {
  auto* where = command.add_option_group("where the logs are");
  where->add_option("--dir", arguments.directory, "a directory of file logs");
  where->add_option("--brokers", arguments.brokers, "Kafka brokers: host:port,...");
  where->require_option(1);
  command.add_option("--kafka", arguments.kafka_settings, "a setting of librdkafka: name=value")
      ->allow_extra_args(false);
  command.add_flag("--json", arguments.as_json, "one JSON object per line");
}

}  // namespace

int wal_command(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Looks into WAL streams. Changes nothing.", "tidemark wal");
  app.require_subcommand(1);
  auto* dump_app = app.add_subcommand("dump", "prints the records of a stream; says which are void, and why");
  dump_app->add_option("stream", arguments.stream, "such as 000000000000002a-7")->required();
  dump_app->add_option("--from", arguments.from, "the first offset to print");
  add_store_options(*dump_app, arguments);
  auto* list_app = app.add_subcommand("list", "prints the names of the streams");
  add_store_options(*list_app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  return dump_app->parsed() ? dump(arguments) : list(arguments);
}

}  // namespace tidemark
