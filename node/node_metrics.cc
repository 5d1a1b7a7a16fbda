#include "node/node_metrics.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace tidemark {

namespace {

constexpr double kMicrosPerSecond = 1e6;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// One counter per value of the enumeration. The first value stands for none, and shares that of the second.
template <size_t Size, typename NameOf>
std::array<Counter*, Size> by_value(Metrics& metrics, const MetricName& name, const char* label,
                                    NameOf name_of) {
  std::array<Counter*, Size> out{};
  for (size_t i = Size; i-- > 0;) {
    MetricName one = name;
    one.labels[label] = lower(name_of(static_cast<int>(std::max<size_t>(i, 1))));
    out[i] = &metrics.counter(one);
  }
  return out;
}

const char kWrites[] = "Requests to write that were executed, by what came of them.";
const char kRegions[] = "Regions held.";

}  // namespace

NodeMetrics::NodeMetrics(Metrics& metrics)
    : records_(metrics.counter({"tidemark_node_records_total", "Records appended that are durable."})),
      changes_(metrics.counter({"tidemark_node_changes_total", "Changes of rows in these records."})),
      record_changes_(metrics.histogram(
          {"tidemark_node_record_changes", "Changes per record, that is: per group commit."},
          {1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000})),
      append_seconds_(metrics.histogram(
          {"tidemark_node_append_seconds", "Time from handing a record to the log until it is durable."},
          duration_bounds())),
      writes_done_(metrics.counter({"tidemark_node_writes_total", kWrites, {{"outcome", "done"}}})),
      writes_failed_(metrics.counter({"tidemark_node_writes_total", kWrites, {{"outcome", "failed"}}})),
      reads_(
          metrics.counter({"tidemark_node_reads_total", "Requests to read that were answered with rows."})),
      refusals_(by_value<kRefusals>(
          metrics, {"tidemark_node_refusals_total", "Requests of any kind refused, by reason."}, "reason",
          [](int code) { return pb::RefusalCode_Name(code); })),
      verdicts_(by_value<kVerdicts>(
          metrics,
          {"tidemark_node_effect_batches_total", "Batches of effects from view managers, by the answer."},
          "answer", [](int verdict) { return pb::EffectAnswer::Verdict_Name(verdict); })),
      batches_logged_(metrics.counter(
          {"tidemark_node_effect_batches_logged_total",
           "Batches of effects that became part of a record; other applied ones had been before."})),
      regions_owned_(metrics.gauge({"tidemark_node_regions", kRegions, {{"state", "owned"}}})),
      regions_standby_(metrics.gauge({"tidemark_node_regions", kRegions, {{"state", "standby"}}})),
      lag_records_(metrics.gauge({"tidemark_node_lag_records",
                                  "Records from the oldest change that some lane has not committed to the "
                                  "newest; the worst region owned."})),
      lag_seconds_(metrics.gauge({"tidemark_node_lag_seconds",
                                  "Age of the oldest change that some lane has not committed; the worst "
                                  "region owned."})),
      queues_(metrics.gauge({"tidemark_node_queues", "Queues open towards view managers."})),
      window_bytes_(
          metrics.gauge({"tidemark_node_queue_window_bytes", "Records kept in memory for queues; bounded."})),
      lanes_waiting_(metrics.gauge(
          {"tidemark_node_queue_lanes_waiting", "Lanes of regions owned that no view manager serves."})),
      checkpoint_age_(metrics.gauge(
          {"tidemark_node_checkpoint_age_seconds", "Time since checkpoints were last saved."})) {}

void NodeMetrics::on_own_record(const pb::RecordBody& body, size_t changes, Micros took) {
  records_.add(1);
  append_seconds_.observe(static_cast<double>(took.value) / kMicrosPerSecond);
  if (body.commit().batches_size() > 0)
    batches_logged_.add(static_cast<uint64_t>(body.commit().batches_size()));
  if (changes == 0) return;
  changes_.add(changes);
  record_changes_.observe(static_cast<double>(changes));
}

void NodeMetrics::on_answer(const pb::Message& message) {
  switch (message.body_case()) {
    case pb::Message::kWritten:
      (message.written().failed().empty() ? writes_done_ : writes_failed_).add(1);
      break;
    case pb::Message::kRows: reads_.add(1); break;
    case pb::Message::kRefusal:
      refusals_[std::min<size_t>(static_cast<size_t>(message.refusal().code()), kRefusals - 1)]->add(1);
      break;
    case pb::Message::kEffectsAnswer:
      verdicts_[std::min<size_t>(static_cast<size_t>(message.effects_answer().verdict()), kVerdicts - 1)]
          ->add(1);
      break;
    default: break;
  }
}

void NodeMetrics::sample(const Sample& sample) {
  regions_owned_.set(static_cast<double>(sample.regions_owned));
  regions_standby_.set(static_cast<double>(sample.regions_standby));
  lag_records_.set(static_cast<double>(sample.lag_records));
  lag_seconds_.set(static_cast<double>(sample.lag_micros) / kMicrosPerSecond);
  queues_.set(static_cast<double>(sample.queues));
  window_bytes_.set(static_cast<double>(sample.window_bytes));
  lanes_waiting_.set(static_cast<double>(sample.lanes_waiting));
  checkpoint_age_.set(static_cast<double>(sample.checkpoint_age.value) / kMicrosPerSecond);
}

}  // namespace tidemark
