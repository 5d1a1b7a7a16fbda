#include "tests/simulation/run.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>
#include <tuple>

#include "base/buggify.h"
#include "base/probe.h"
#include "tests/simulation/checker.h"
#include "tests/simulation/nemesis.h"
#include "tests/simulation/operator.h"
#include "tests/simulation/record_text.h"
#include "tests/simulation/workload.h"

namespace tidemark::sim {
namespace {

// Counted by the thousand, and not as faults.
const std::set<std::string> kDelays = {"message slow", "coordination read of the past"};

// Behind the name of a change: it was not only accepted.
constexpr char kDone[] = ": done";

std::string to_text(pb::Operation::Kind kind) {
  std::string text = pb::Operation::Kind_Name(kind);
  for (char& c : text) c = c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  return text;
}

uint64_t count_done(const Tallies& changes, std::initializer_list<pb::Operation::Kind> kinds) {
  uint64_t total = 0;
  for (const pb::Operation::Kind kind : kinds) {
    const auto found = changes.find(to_text(kind) + kDone);
    if (found != changes.end()) total += found->second;
  }
  return total;
}

template <typename Integer = int64_t>
Integer whole(double value) {
  return static_cast<Integer>(value);
}
Micros micros(double value) {
  return Micros{whole(value)};
}

SimFaults faults_of(const Scenario& s) {
  SimFaults faults;
  faults.network.loss = s.loss;
  faults.network.slow = s.slow;
  faults.network.delay_max = micros(s.delay_micros);
  faults.network.slow_delay_max = micros(s.slow_delay_micros);
  faults.logs.late = s.late;
  faults.logs.late_fence = s.late_fence;
  faults.logs.unknown = s.unknown;
  faults.logs.no_offset = s.no_offset;
  faults.logs.duplicate = s.duplicate;
  faults.logs.duplicate_reported = s.duplicate_reported;
  faults.logs.lost = s.lost;
  faults.logs.unavailable = s.unavailable;
  faults.logs.refused = s.refused;
  faults.logs.read_delay_max = micros(s.read_delay_micros);
  faults.logs.append_delay_max = micros(s.append_delay_micros);
  faults.logs.late_delay_max = micros(s.late_delay_micros);
  faults.coordination.delay_max = micros(s.coordination_delay_micros);
  faults.coordination.watch_delay_max = micros(s.watch_delay_micros);
  faults.coordination.lose_request = s.lose_request;
  faults.coordination.lose_reply = s.lose_reply;
  faults.coordination.reconnect_delay_max = micros(s.reconnect_delay_micros);
  faults.coordination.lagging = s.lagging;
  faults.coordination.lag_max = micros(s.lag_micros);
  faults.coordination.session_timeout = micros(s.session_timeout_micros);
  return faults;
}

NodeOptions node_options(const Scenario& s) {
  NodeOptions node;
  node.region.record_bytes_max = whole<size_t>(s.record_bytes_max);
  node.region.in_flight_records_max = whole<size_t>(s.in_flight_records_max);
  node.region.commit_delay = micros(s.commit_delay_micros);
  node.region.page_bytes_max = whole<size_t>(s.page_bytes_max);
  node.region.join_page_matches_max = whole<size_t>(s.join_page_matches_max);
  node.region.progress_interval = micros(s.progress_interval_micros);
  node.region.unify_interval = micros(s.unify_interval_micros);
  node.region.sessions_max = whole<size_t>(s.sessions_max);
  node.region.session_idle = micros(s.session_idle_micros);
  node.feed.window_bytes_max = whole<size_t>(s.window_bytes_max);
  node.feed.message_bytes_max = whole<size_t>(s.message_bytes_max);
  node.feed.silent_records_max = whole<uint64_t>(s.silent_records_max);
  node.feed.read_bytes = whole<size_t>(s.read_bytes);
  node.wal.read_bytes = whole<size_t>(s.read_bytes);
  node.lag_records_max = whole<uint64_t>(s.lag_records_max);
  node.checkpoint_interval = micros(s.checkpoint_interval_micros);
  node.seed_chunk_bytes = whole<size_t>(s.seed_chunk_bytes);
  node.refused_delay = micros(s.refused_delay_micros);
  return node;
}

ViewManagerLimits view_manager_limits(const Scenario& s) {
  ViewManagerLimits limits;
  limits.input_bytes_max = whole<size_t>(s.input_bytes_max);
  limits.queue_bytes_min = whole<size_t>(s.queue_bytes_min);
  limits.effects_bytes_max = whole<size_t>(s.effects_bytes_max);
  limits.batch_bytes_max = whole<size_t>(s.batch_bytes_max);
  limits.batch_effects_max = whole<uint32_t>(s.batch_effects_max);
  limits.batches_in_flight_max = whole<uint32_t>(s.batches_in_flight_max);
  limits.answer_timeout = micros(s.answer_timeout_micros);
  limits.stall_timeout = micros(s.stall_timeout_micros);
  limits.report_interval = micros(s.report_interval_micros);
  return limits;
}

CoordinatorSettings coordinator_settings(const Scenario& s) {
  static constexpr const char* kPlacements[] = {"slicing-coalescing", "slicing-greedy", "token-ring"};
  CoordinatorSettings settings;
  settings.regions = whole<uint32_t>(std::min(s.regions, s.shards));
  settings.replicas = whole<uint32_t>(s.replicas);
  settings.embedded = s.embedded > 0;
  settings.spread_after = micros(s.spread_after_micros);
  settings.replica_absence = micros(s.replica_absence_micros);
  settings.seeds_at_once = whole<uint32_t>(s.seeds_at_once);
  settings.discard_records_min = whole<uint64_t>(s.discard_records_min);
  settings.activation = s.activate_by_coordinator > 0 ? pb::ACTIVATE_BY_COORDINATOR : pb::ACTIVATE_BY_NODE;
  settings.placement = kPlacements[std::min<size_t>(whole<size_t>(s.placement), std::size(kPlacements) - 1)];
  return settings;
}

// The cluster comes up without faults: they begin with the clients.
SimClusterOptions cluster_options(const Scenario& s) {
  SimClusterOptions options;
  options.seed = s.seed;
  options.shards = ShardCount{whole<uint32_t>(s.shards)};
  options.nodes = whole<int>(s.nodes);
  options.view_managers = whole<int>(s.view_managers);
  options.standby_view_managers = whole<int>(s.standbys);
  options.faults.log_kind = s.embedded > 0 ? MemoryLogKind::Disk : MemoryLogKind::Kafka;
  options.faults.coordination.session_timeout = micros(s.session_timeout_micros);
  options.save_delay_max = micros(s.save_delay_micros);
  options.coordinator = coordinator_settings(s);
  options.node = node_options(s);
  options.view_manager = view_manager_limits(s);
  return options;
}

class Run {
 public:
  Run(const Scenario& scenario, const Trace::Sink& sink)
      : scenario_(scenario),
        cluster_(cluster_options(scenario)),
        trace_(cluster_.world().scheduler, sink),
        random_(scenario.seed * 2 + 1),
        witness_(witness_listener()),
        history_(tables_, cluster_.options().shards),
        operator_(cluster_, scenario_, tables_, random_.fork(), trace_),
        evidence_{scenario_,
                  cluster_,
                  tables_,
                  witness_,
                  history_,
                  operator_.views(),
                  report_.findings,
                  trace_,
                  [this] { return workload_.in_flight(); },
                  [this] {
                    const std::string unfinished = operator_.unfinished();
                    return unfinished.empty() ? operator_.left_over() : unfinished;
                  }},
        checkers_(make_checkers(evidence_)),
        workload_(evidence_, random_.fork(), workload_listener()),
        nemesis_(cluster_, scenario_, random_.fork(), trace_, workload_.first_session()) {
    cluster_.world().logs.set_observer(&witness_);
    cluster_.world().coordination.set_observer(
        [this](SessionNumber session, const std::vector<CoordinationOp>& ops) {
          for (const CoordinationOp& op : ops) {
            if (op.kind != CoordinationOp::Kind::Set) continue;
            trace_.say("fact:", op.path);
            ++facts_written_;
            for (auto& checker : checkers_) checker->on_fact_written(session, op.path, op.data);
          }
        });
    cluster_.world().network.set_tap(
        [this](const Address& from, const Address& to, const pb::Message& message) {
          for (auto& checker : checkers_) checker->on_message(from, to, message);
        });
  }

  RunReport run() {
    forget_probes();
    trace_.say(describe(scenario_));
    if (!operator_.set_up()) {
      fail("P2 termination", "the cluster does not come up: " + operator_.unfinished());
    } else {
      safety();
      if (report_.findings.empty()) liveness();
    }
    finish_report();
    return std::move(report_);
  }

 private:
  void safety() {
    const Buggify buggify(scenario_.seed, scenario_.buggify,
                          [this](const std::string& point) { trace_.say("buggify:", point); });
    cluster_.world().network.set_faults(faults_of(scenario_).network);
    cluster_.world().logs.set_faults(faults_of(scenario_).logs);
    cluster_.world().coordination.set_faults(faults_of(scenario_).coordination);
    first_operation_ = cluster_.operations().next_id();
    Micros next_fault = now(), next_sample = now();
    const auto operations = whole<uint64_t>(scenario_.operations);
    const auto in_flight_max = whole<size_t>(scenario_.in_flight_max);
    const uint64_t last_step = cluster_.world().scheduler.steps() + whole<uint64_t>(scenario_.steps);
    while (workload_.counts().operations < operations && report_.findings.empty() &&
           cluster_.world().scheduler.steps() < last_step) {
      if (workload_.in_flight() < in_flight_max) {
        workload_.act(CatalogVersion{operator_.catalog().version()});
        operator_.act();
      }
      cluster_.run_for(Micros{random_.between(0, 2 * whole(scenario_.pace_micros))});
      for (; next_fault <= now(); next_fault.value += Nemesis::kInterval.value) nemesis_.act();
      for (; next_sample <= now(); next_sample.value += 100'000) sample();
    }
    report_.deviations = buggify.counts();
  }

  void liveness() {
    nemesis_.mend(scenario_.lose_process > 0 ? operator_.choose_lost() : nullptr);
    if (!come_to_rest()) return;
    workload_.await_tokens();
    cluster_.run_for(Micros{10'000'000});  // Appends that are late have landed, too.
    if (const size_t left = workload_.tokens_awaited(); left > 0)
      return fail("P2 termination", std::to_string(left) + " tokens were never reached");
    // What is at rest may have stopped for good: it is asked for more, by processes that know what is durable
    // alone.
    nemesis_.restart_all();
    workload_.write_everywhere(CatalogVersion{operator_.catalog().version()});
    if (!operator_.create_another()) return fail_stuck();
    if (!come_to_rest()) return;
    cluster_.run_for(Micros{5'000'000});  // What is committed is told and recorded.
    for (auto& checker : checkers_) checker->on_quiet_begins();
    cluster_.run_for(Micros{20'000'000});
    sample();
    for (auto& checker : checkers_) checker->on_settled();
  }

  void fail_stuck() { fail("P2 termination", "the catalog does not take a change"); }

  // False: it does not, which has been told.
  bool come_to_rest() {
    if (!operator_.settle_catalog()) {
      fail_stuck();
      return false;
    }
    // As long as it gets on it may take its time; what stands still for so long has stopped for good.
    const int idle_rounds_max = 120, rounds_max = 1200;
    std::string why, property;
    uint64_t records = 0;
    for (int round = 0, idle = 0; round < rounds_max && idle < idle_rounds_max; ++round) {
      cluster_.run_for(Micros{500'000});
      if (!report_.findings.empty()) return false;
      // Again and again: a request to pause one may still be on its way.
      if (!operator_.resume_backfills()) {
        fail_stuck();
        return false;
      }
      std::tie(property, why) = unrest();
      if (why.empty()) break;
      trace_.say("not at rest:", property, why);
      idle = records == witness_.record_count() ? idle + 1 : 0;
      records = witness_.record_count();
    }
    if (!why.empty()) {
      describe_cluster();
      fail(property, why);
      return false;
    }
    trace_.say("all is at rest");
    return true;
  }

  // What is not yet as it must be in the end, and the property that is about it.
  std::pair<std::string, std::string> unrest() {
    for (auto& checker : checkers_) {
      if (std::string what = checker->unrest(); !what.empty()) return {checker->property(), what};
    }
    return {};
  }

  // For people: what everyone waits for.
  void describe_cluster() {
    if (!trace_.on()) return;
    std::string status;
    cluster_.admin({"status"}, &status);
    trace_.say("status:", status);
    for (int i = 0; i < cluster_.view_manager_count(); ++i) {
      ViewManager* role = cluster_.view_manager_role(i);
      trace_.say(cluster_.view_manager(i).name(), role && role->core() ? role->core()->describe() : "idle");
    }
    for (int i = 0; i < cluster_.node_count(); ++i) {
      StorageNode* node = cluster_.storage_node(i);
      if (node == nullptr) continue;
      for (const pb::RegionStatus& region : node->regions().statuses())
        trace_.say(cluster_.node(i).name(), region.ShortDebugString());
    }
    trace_.say("map:", operator_.map().ShortDebugString());
  }

  void sample() {
    for (auto& checker : checkers_) checker->on_sample();
  }

  Micros now() { return cluster_.world().scheduler.now(); }

  void fail(const std::string& property, const std::string& what) {
    trace_.say("VIOLATED", property, what);
    report_.findings.push_back({property, what, now()});
  }

  Witness::Listener witness_listener() {
    return {[this](const SeenRecord& record) { on_record(record); },
            [this](const SeenStream& stream, Offset begin) {
              trace_.say("log: stream", stream.region, "is cut to", begin);
              for (auto& checker : checkers_) checker->on_trimmed(stream, begin);
            },
            [this](const SeenStream& stream) {
              trace_.say("log: stream", stream.region, "is removed");
              for (auto& checker : checkers_) checker->on_removed(stream);
            }};
  }

  void on_record(const SeenRecord& record) {
    const SeenStream& stream = *witness_.find(record.stream.region);
    if (trace_.on()) {
      trace_.say("log: stream", stream.region, "at", record.at, to_string(record.header.kind),
                 record.counts ? "counts" : "is void", describe(record, tables_, cluster_.options().shards));
    }
    // Ten times what the busiest seeds write.
    constexpr uint64_t kRecordsMax = 1'000'000;
    if (witness_.record_count() == kRecordsMax) fail("P2 termination", "the logs grow without end");
    history_.on_record(record, stream.generation, now());
    for (auto& checker : checkers_) checker->on_record(record, stream);
  }

  Workload::Listener workload_listener() {
    return {[this](const ClientWrite& write) {
              for (auto& checker : checkers_) checker->on_write_begun(write);
            },
            [this](const ClientWrite& write, Heard heard, const LaneRuns& tokens) {
              for (auto& checker : checkers_) checker->on_write_answered(write, heard, tokens);
            },
            [this](const ClientRead& read) {
              for (const auto& [key, row] : read.found) reads_hash_ = reads_hash_ * 31 + row[3].value_or(0);
              for (auto& checker : checkers_) checker->on_read(read);
            }};
  }

  // Since the clients began. (Of hundreds, the history keeps the last ones.)
  void count_changes_done() {
    const pb::HistoryFact history = cluster_.history();
    for (const pb::Operation& operation : history.operations()) {
      if (operation.id() < first_operation_ || operation.outcome() != pb::Operation::DONE) continue;
      ++report_.changes[to_text(operation.kind()) + kDone];
    }
  }

  void finish_report() {
    const Workload::Counts& counts = workload_.counts();
    report_.work = {{"operations", counts.operations},
                    {"acknowledged", counts.acknowledged},
                    {"unknown", counts.unknown},
                    {"failed by what was there", counts.failed},
                    {"not done", counts.not_done},
                    {"reads", counts.reads},
                    {"reads after tokens", counts.token_reads},
                    {"reads failed", counts.failed_reads},
                    {"records", witness_.record_count()},
                    {"steps", cluster_.world().scheduler.steps()},
                    {"facts", facts_written_},
                    {"messages", cluster_.world().network.counters().messages}};
    report_.changes = operator_.counts();
    report_.faults = nemesis_.counts();
    report_.probes = probe_counts();
    report_.simulated = now();
    report_.state_hash = witness_.hash();
    for (const auto* part : {&report_.work, &report_.changes, &report_.faults, &report_.deviations}) {
      for (const auto& [name, count] : *part) report_.state_hash = report_.state_hash * 31 + count;
    }
    report_.state_hash = report_.state_hash * 31 + static_cast<uint64_t>(now().value);
    report_.state_hash = report_.state_hash * 31 + reads_hash_;
    count_changes_done();
  }

  RunReport report_;
  uint64_t facts_written_ = 0;
  uint64_t reads_hash_ = 0;  // What readers found.
  uint64_t first_operation_ = 0;
  Scenario scenario_;
  SimCluster cluster_;
  Trace trace_;
  Random random_;
  Tables tables_;
  Witness witness_;
  RowHistory history_;
  Operator operator_;
  Evidence evidence_;
  std::vector<std::unique_ptr<Checker>> checkers_;
  Workload workload_;
  Nemesis nemesis_;
};

}  // namespace

uint64_t RunReport::fault_count() const {
  uint64_t total = 0;
  for (const auto& [name, count] : faults) {
    if (!kDelays.contains(name)) total += count;
  }
  return total;
}

uint64_t RunReport::region_changes() const {
  return count_done(changes,
                    {pb::Operation::MOVE_REGION, pb::Operation::SPLIT_REGION, pb::Operation::MERGE_REGIONS,
                     pb::Operation::ADD_NODE, pb::Operation::REMOVE_NODE});
}

uint64_t RunReport::view_manager_changes() const {
  return count_done(changes, {pb::Operation::ADD_VIEW_MANAGER, pb::Operation::REMOVE_VIEW_MANAGER});
}

RunReport run_scenario(const Scenario& scenario, const Trace::Sink& trace) {
  return Run(scenario, trace).run();
}

}  // namespace tidemark::sim
