// A process that owns a Kafka stream and appends without pause: BROKERS STREAM FILE. It tells FILE what was
// acknowledged and how its incarnation ended, and then tries to own it again, with the same old map.
#include <fstream>
#include <iostream>

#include "tests/wal/replica.h"
#include "tests/wal/test_loop.h"
#include "wal/kafka_log.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

class Owner : public Replica {
 public:
  Owner(StreamId stream, std::unique_ptr<Log> log, Scheduler& loop, const char* told)
      : Replica(stream, std::move(log), loop), told_(told) {}

  void on_opened(Offset at) override {
    Replica::on_opened(at);
    for (int i = 0; i < 50; ++i) send();
  }
  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override {
    Replica::on_record(at, record, state);
    if (!wal->owning() || record.header.kind != RecordKind::Body) return;
    told_ << "acknowledged " << at << std::endl;
    send();
  }
  void on_ended(EndReason reason) override {
    Replica::on_ended(reason);
    told_ << "ended " << static_cast<int>(reason) << std::endl;
    if (reason != EndReason::MapTooOld) wal->open(MapVersion{1}, ++nonce_);
  }

 private:
  void send() {
    if (wal->can_append()) wal->append(RecordKind::Body, "old " + std::to_string(++sent_));
  }
  std::ofstream told_;
  uint64_t sent_ = 0;
  uint64_t nonce_ = 1;
};

int run(char** argv) {
  TestLoop loop;
  auto logs = std::move(*KafkaLogs::open({.brokers = argv[1]}));
  auto store = logs->connect(loop);
  const StreamId stream = *parse_stream_name(argv[2]);
  std::unique_ptr<Log> log;
  store->open(stream, [&](auto opened) { log = std::move(*opened); });
  loop.run_until([&] { return log != nullptr; });
  Owner owner(stream, std::move(log), loop, argv[3]);
  owner.wal->open(MapVersion{1}, 1);
  while (true) loop.run_for(std::chrono::seconds(60));
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return tidemark::run(argv);
}
