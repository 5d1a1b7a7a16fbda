// A replica's end of a stream as tests see it: a Wal and all that it said.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wal/wal.h"

namespace tidemark {

struct SeenRecord {
  Offset at;
  RecordKind kind;
  std::string payload;
  bool operator==(const SeenRecord&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const SeenRecord& it) {
  return out << it.at << ':' << to_string(it.kind) << ':' << it.payload.substr(0, 40);
}

class Replica : public WalListener {
 public:
  Replica(StreamId stream, std::unique_ptr<Log> log, Scheduler& scheduler, ReaderState start = {},
          WalOptions options = {})
      : wal(std::make_unique<Wal>(stream, std::move(log), start, scheduler, *this, options)) {}

  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override {
    seen.push_back({at, record.header.kind, record.payload});
    states.push_back(state);
  }
  void on_opened(Offset at) override { incarnation = at; }
  void on_ended(EndReason reason) override {
    incarnation.reset();
    ends.push_back(reason);
  }
  void on_caught_up(Offset end) override { caught_up = end; }
  void on_failed(const LogFailure& failure) override { failed = failure; }
  void on_waiting(const LogFailure& why) override { waits.push_back(why.message); }

  // The payloads of the bodies, in order.
  std::vector<std::string> bodies() const {
    std::vector<std::string> all;
    for (const SeenRecord& record : seen) {
      if (record.kind == RecordKind::Body) all.push_back(record.payload);
    }
    return all;
  }

  std::vector<SeenRecord> seen;
  std::vector<ReaderState> states;
  std::optional<Offset> incarnation;
  std::vector<EndReason> ends;
  std::optional<Offset> caught_up;
  std::optional<LogFailure> failed;
  std::vector<std::string> waits;
  std::unique_ptr<Wal> wal;
};

}  // namespace tidemark
