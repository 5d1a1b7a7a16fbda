// What a storage node counts for Prometheus: docs/metrics.md. Decides nothing. Lives on the node's loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/metrics.h"
#include "base/types.h"
#include "proto/log.pb.h"
#include "proto/messages.pb.h"

namespace tidemark {

class NodeMetrics {
 public:
  explicit NodeMetrics(Metrics& metrics);

  // A record that this node has appended is durable and applied, so long after it was handed to the log.
  void on_own_record(const pb::RecordBody& body, size_t changes, Micros took);
  // An answer to a client or a view manager.
  void on_answer(const pb::Message& message);

  // Looked at about once a second.
  struct Sample {
    size_t regions_owned = 0;
    size_t regions_standby = 0;
    uint64_t lag_records = 0;  // The worst of the regions owned, as the time is.
    int64_t lag_micros = 0;
    size_t queues = 0;
    size_t window_bytes = 0;
    size_t lanes_waiting = 0;
    Micros checkpoint_age;
  };
  void sample(const Sample& sample);

 private:
  static constexpr size_t kRefusals = pb::RefusalCode_ARRAYSIZE;
  static constexpr size_t kVerdicts = pb::EffectAnswer::Verdict_ARRAYSIZE;

  Counter& records_;
  Counter& changes_;
  Histogram& record_changes_;
  Histogram& append_seconds_;
  Counter& writes_done_;
  Counter& writes_failed_;
  Counter& reads_;
  std::array<Counter*, kRefusals> refusals_;
  std::array<Counter*, kVerdicts> verdicts_;
  Counter& batches_logged_;

  Gauge& regions_owned_;
  Gauge& regions_standby_;
  Gauge& lag_records_;
  Gauge& lag_seconds_;
  Gauge& queues_;
  Gauge& window_bytes_;
  Gauge& lanes_waiting_;
  Gauge& checkpoint_age_;
};

}  // namespace tidemark
