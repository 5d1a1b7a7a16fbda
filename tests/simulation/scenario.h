// All that a simulated run is made of, as numbers with names: how large the cluster is, what its clients and
// operators do, its tunables, how often each fault happens. A seed draws them; a replay, a test or the
// shrinker may set single ones. A run depends on the scenario and on nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tidemark::sim {

struct Scenario {
  uint64_t seed = 1;
  std::string name = "swarm";

  // ---- the cluster
  double embedded = 0;  // One node whose log is its own disk.
  double nodes = 3;
  double view_managers = 2;
  double standbys = 0;
  double shards = 16;
  double regions = 4;
  double replicas = 2;

  // ---- what clients do
  double operations = 2000;
  double steps = 150'000;  // After so many tasks of all processes no operation is begun any more.
  double clients = 2;
  double in_flight_max = 30;  // Clients with more unanswered writes begin nothing.
  double keys = 40;
  double groups = 6;
  double batch_rows = 2;      // At most, per write.
  double pace_micros = 4000;  // Mean time between operations.
  double deletes = 0.2;
  double conditional = 0;  // Writes that depend on what is there.
  double whole = 0;        // Writes of several rows that are done whole or not at all.
  double reads = 0.2;      // Operations that read.
  double tokens = 0.3;     // Reads that wait for the newest write first.

  // ---- what operators do
  double views = 5;        // There from the beginning.
  double views_later = 2;  // Made over rows that are there.
  double drops = 0.3;      // Chance that one of them is dropped again.
  double paces = 0;        // Changes of how fast backfills may go. They end before the run does.
  double region_changes = 6;
  double view_manager_changes = 4;
  double discards = 3;
  double cancels = 0.1;  // Of changes.

  // ---- tunables
  double record_bytes_max = 900'000;
  double in_flight_records_max = 8;
  double commit_delay_micros = 2'000;
  double page_bytes_max = 262'144;
  double join_page_matches_max = 1'000;
  double progress_interval_micros = 50'000;
  double unify_interval_micros = 1'000'000;
  double sessions_max = 10'000;
  double session_idle_micros = 500'000;
  double lag_records_max = 1'000'000;
  double window_bytes_max = 4 << 20;
  double message_bytes_max = 512 << 10;
  double silent_records_max = 256;
  double read_bytes = 64 << 10;
  double checkpoint_interval_micros = 5'000'000;
  double seed_chunk_bytes = 512 << 10;
  double input_bytes_max = 64 << 20;
  double queue_bytes_min = 64 << 10;
  double effects_bytes_max = 128 << 20;
  double batch_bytes_max = 256 << 10;
  double batch_effects_max = 8192;
  double batches_in_flight_max = 2;
  double answer_timeout_micros = 500'000;
  double stall_timeout_micros = 2'000'000;
  double report_interval_micros = 50'000;
  double spread_after_micros = 2'000'000;
  double replica_absence_micros = 20'000'000;
  double seeds_at_once = 4;
  double refused_delay_micros = 1'000'000;  // What could not be opened is tried again.
  double discard_records_min = 200;
  double session_timeout_micros = 2'000'000;
  double activate_by_coordinator = 0;
  double placement = 0;  // 0 slicing-coalescing, and others by number.

  // ---- faults of processes: per process and second
  double crash = 0.05;
  double pause = 0.03;           // The session expires if it takes long.
  double hang = 0.02;            // The session lives.
  double expire = 0.01;          // The session, of a healthy process.
  double down_micros = 800'000;  // Mean.
  double lose_disk = 0;          // Of the crashes of nodes: the disk is empty afterwards.
  double whole_logs = 0;         // No log is cut: the last disk may be lost too.
  double stop = 0.1;             // Of the ends: orderly ones.
  double lose_process = 0;       // One never comes back.

  // ---- faults of the network
  double loss = 0.001;
  double slow = 0.01;
  double slow_delay_micros = 200'000;
  double delay_micros = 500;
  double partition = 0.05;  // Per second.
  double one_way = 0.5;     // Of the partitions.

  // ---- faults of the log: per append
  double late = 0.002;
  double late_fence = 0.02;
  double unknown = 0.002;
  double no_offset = 0.002;
  double duplicate = 0.002;
  double duplicate_reported = 0.002;
  double lost = 0.002;
  double unavailable = 0.001;  // Per read.
  double refused = 0.02;       // Per opening.
  double outage = 0.02;        // Of the whole log, per second.
  double append_delay_micros = 2'000;
  double read_delay_micros = 500;
  double late_delay_micros = 5'000'000;

  // ---- faults of the coordination service
  double coordination_delay_micros = 2'000;
  double watch_delay_micros = 20'000;
  double lose_request = 0.002;
  double lose_reply = 0.002;
  double reconnect_delay_micros = 50'000;
  double cut_off = 0.02;  // A node and a client can not reach it for a while, per second.
  double lagging = 0;     // Sessions at a server that lags behind.
  double lag_micros = 200'000;

  // ---- faults of disks
  double save_delay_micros = 1'000;  // A slow disk: up to seconds.
  double refuse_saves = 0.01;        // A disk that refuses checkpoints for a while, per node and second.
  double fill = 0.3;                 // Of those: it takes no rows either.

  // ---- legal deviations inside of the cores (base/buggify.h)
  double buggify = 0.02;  // Per visit of a point that is on.
};

// A number of a scenario, by name.
struct Knob {
  const char* name;
  double Scenario::*field;
  // What the shrinker tries: the value without which nothing works, or without which the fault is gone.
  double least;
};
std::span<const Knob> knobs();
const Knob* find_knob(std::string_view name);

// The names of the kinds of scenarios: "swarm", and those that dwell on one part of the system.
std::vector<std::string> scenario_names();

// REQUIRES: the name is one of scenario_names().
Scenario draw_scenario(uint64_t seed, const std::string& name = "swarm");

// "name=value", as a replay's command line gives it.
Status apply_setting(Scenario& scenario, std::string_view setting);

// The settings in which the scenario differs from what its seed and name draw.
std::vector<std::string> settings_of(const Scenario& scenario);

std::string describe(const Scenario& scenario);

}  // namespace tidemark::sim
