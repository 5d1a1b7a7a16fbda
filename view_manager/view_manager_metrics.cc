#include "view_manager/view_manager_metrics.h"

namespace tidemark {

namespace {

using Core = ViewManagerCore;

const char kAnswers[] = "Answers to batches sent, and those that did not come in time.";

MetricName answer(const char* which) {
  return {"tidemark_view_manager_answers_total", kAnswers, {{"answer", which}}};
}

size_t size_of(const LaneSet& lanes) {
  size_t out = 0;
  for (const ShardRange& range : lanes.ranges()) out += range.size();
  return out;
}

}  // namespace

ViewManagerMetrics::ViewManagerMetrics(Metrics& metrics)
    : lanes_(metrics.gauge({"tidemark_view_manager_lanes", "Lanes served."})),
      queues_(metrics.gauge({"tidemark_view_manager_queues", "Queues open."})),
      input_bytes_(metrics.gauge(
          {"tidemark_view_manager_input_bytes", "Input received and not yet acknowledged; bounded."})),
      effects_bytes_(metrics.gauge(
          {"tidemark_view_manager_effects_bytes", "Effects computed and not yet acknowledged; bounded."})),
      parked_(metrics.gauge(
          {"tidemark_view_manager_destinations_parked",
           "Destinations that did nothing while memory was short: input for them is let go."})) {
  add_total(metrics.counter({"tidemark_view_manager_entries_total", "Records read from queues."}),
            [](const Core& core) { return core.counts().entries; });
  add_total(metrics.counter({"tidemark_view_manager_changes_total", "Changes read from queues."}),
            [](const Core& core) { return core.counts().changes; });
  add_total(metrics.counter({"tidemark_view_manager_effects_total", "Effects computed from changes."}),
            [](const Core& core) { return core.counts().effects; });
  add_total(metrics.counter({"tidemark_view_manager_effects_taken_total",
                             "Effects taken into batches, before combining; those sent again count again."}),
            [](const Core& core) { return core.batch_counts().effects; });
  add_total(metrics.counter({"tidemark_view_manager_effects_combined_total",
                             "Effects that combining with others for the same row has saved."}),
            [](const Core& core) { return core.batch_counts().combined; });
  add_total(metrics.counter({"tidemark_view_manager_batches_total", "Batches of effects sent."}),
            [](const Core& core) { return core.counts().batches; });
  add_total(metrics.counter({"tidemark_view_manager_reports_total", "Reports of committed positions."}),
            [](const Core& core) { return core.counts().reports; });
  add_total(metrics.counter({"tidemark_view_manager_queues_reopened_total",
                             "Queues whose input was lost or let go and is read again."}),
            [](const Core& core) { return core.counts().reopened; });
  add_total(metrics.counter(answer("applied")), [](const Core& core) { return core.counts().applied; });
  add_total(metrics.counter(answer("refused")), [](const Core& core) { return core.counts().refused; });
  add_total(metrics.counter(answer("busy")), [](const Core& core) { return core.counts().busy; });
  add_total(metrics.counter(answer("catalog_behind")),
            [](const Core& core) { return core.counts().catalog_behind; });
  add_total(metrics.counter(answer("none")), [](const Core& core) { return core.counts().timeouts; });
}

void ViewManagerMetrics::add_total(Counter& metric, uint64_t (*of)(const Core&)) {
  totals_.push_back({metric, of, FollowedCounter(metric)});
}

void ViewManagerMetrics::sample(const ViewManagerCore* core) {
  lanes_.set(core ? static_cast<double>(size_of(core->lanes())) : 0);
  queues_.set(core ? static_cast<double>(core->queue_count()) : 0);
  input_bytes_.set(core ? static_cast<double>(core->input_bytes()) : 0);
  effects_bytes_.set(core ? static_cast<double>(core->effects_bytes()) : 0);
  parked_.set(core ? static_cast<double>(core->parked_count()) : 0);
  for (Total& total : totals_) {
    if (core) {
      total.follower.follow(total.of(*core));
    } else {
      total.follower = FollowedCounter(total.metric);  // The next core counts from nothing.
    }
  }
}

}  // namespace tidemark
