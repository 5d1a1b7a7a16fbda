// The cluster at a glance, the history of operations, and how far a running one is.
#include <algorithm>

#include "coordinator/admin.h"
#include "coordinator/freshness.h"
#include "coordinator/json_writer.h"
#include "coordinator/ring_planner.h"

namespace tidemark {

namespace {

std::string millis(int64_t micros) {
  return std::to_string(micros / 1000) + "." + std::to_string(micros % 1000 / 100) + " ms";
}

std::string of(size_t part, size_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole);
}

// ---- what status shows, gathered once for both forms

struct Lag {
  uint64_t records = 0;
  int64_t micros = 0;
  size_t unreported = 0;  // Regions whose owner has said nothing yet.
};

Lag worst_lag(const Situation& now) {
  Lag out;
  for (const auto* entry : now.live_regions()) {
    const pb::RegionStatus* status = now.status(entry->region(), entry->owner());
    if (!status) {
      ++out.unreported;
      continue;
    }
    out.records = std::max(out.records, status->lag_records());
    out.micros = std::max(out.micros, status->lag_micros());
  }
  return out;
}

const char* state_name(const pb::ViewFreshness& view) {
  switch (view.state()) {
    case pb::ViewFreshness::WAITING: return "waiting";
    case pb::ViewFreshness::BACKFILLING: return is_paused(view.backfill()) ? "paused" : "backfilling";
    default: return "ready";
  }
}

void write_view(const pb::ViewFreshness& view, JsonWriter& json) {
  json.field("name", view.name());
  json.field("state", state_name(view));
  json.field("lag_records", view.lag_records());
  json.field("lag_micros", view.lag_micros());
  if (view.lag_records() > 0) {
    json.field("lag_region", view.lag_region());
    json.field("lag_lane", view.lag_lane());
  }
  json.field("regions_unreported", view.regions_unreported());
  if (!view.has_backfill()) return;
  json.object("backfill", [&] {
    json.field("done_per_million", view.backfill().done_per_million());
    json.field("rows_per_second", view.backfill().rows_per_second());
    if (view.backfill().has_rows_per_second_max())
      json.field("rows_per_second_max", view.backfill().rows_per_second_max());
    if (view.backfill().micros_left() >= 0) json.field("micros_left", view.backfill().micros_left());
  });
}

std::string member_state(bool alive, bool leaving) {
  if (leaving) return alive ? "leaving" : "gone, leaving";
  return alive ? "alive" : "gone";
}

std::string region_state(const Situation& now, const pb::RegionEntry& entry) {
  if (entry.sealed()) return "sealed";
  if (const auto* change = now.change_of(entry.region()))
    return pb::RegionChange::Phase_Name(change->phase());
  if (!now.is_node_alive(entry.owner())) return "no owner";
  const pb::RegionStatus* status = now.status(entry.region(), entry.owner());
  return status && status->owner() ? "served" : "opening";
}

std::string shards_text(const pb::ShardRange& shards) {
  return "[" + std::to_string(shards.begin()) + "," + std::to_string(shards.end()) + ")";
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string replicas_text(const Situation& now, const pb::RegionEntry& entry) {
  std::string out;
  for (const auto& replica : entry.replicas()) {
    if (replica.node() == entry.owner()) continue;
    out += (out.empty() ? "" : ",") + replica.node();
    if (!now.has_checkpoint(entry, replica.node())) out += "(no checkpoint)";
  }
  return out.empty() ? "-" : out;
}

std::string ring_progress(const Situation& now, uint64_t version) {
  size_t cut = 0;
  size_t acknowledged = 0;
  for (const auto* entry : now.live_regions()) {
    LogView log = now.log(entry->region()).value_or(LogView{});
    cut += log.ring_version >= version;
    acknowledged += log.ring_version >= version && log.ring_acknowledged >= version;
  }
  size_t all = now.live_regions().size();
  return "ring " + std::to_string(version) + ": " + of(cut, all) + " regions have the cut, " +
         of(acknowledged, all) + " have committed past it";
}

std::string change_progress(const Situation& now, const pb::Operation& operation) {
  const pb::RegionChange* change = now.change(operation.change());
  if (!change) {
    if (operation.kind() == pb::Operation::MERGE_REGIONS)
      return "waits until both are on the same nodes, with checkpoints there, at the same catalog and ring, "
             "and have nothing to backfill";
    return "waits until the region is idle";
  }
  return "change " + std::to_string(change->id()) + ": " + pb::RegionChange::Phase_Name(change->phase());
}

// A node may have to stay until one that is away is back (steps_replicas.cc).
std::string leaving_progress(const Situation& now, const std::string& leaving) {
  std::string away;
  for (const auto& wish : now.facts.wishes.nodes())
    if (!wish.leaving() && !now.is_node_alive(wish.name())) away += (away.empty() ? "" : ", ") + wish.name();
  std::string held = "still holds " + of(now.replicas_on(leaving), now.live_regions().size()) + " regions";
  return away.empty() ? held : held + "; away: " + away + " (start it, or remove it as well)";
}

int64_t longest_pause(const pb::Operation& operation) {
  int64_t longest = 0;
  for (const auto& pause : operation.pauses()) longest = std::max(longest, pause.micros());
  return longest;
}

}  // namespace

std::string progress_of(const Situation& now, const pb::Operation& operation) {
  const std::string& member = operation.member();
  if (operation.cancelling()) return "being cancelled";
  switch (operation.kind()) {
    case pb::Operation::ADD_VIEW_MANAGER:
      if (operation.ring_version() == 0)
        return now.is_identity_alive(member) ? "a ring is being made"
                                             : "waits for " + member + " to register";
      return ring_progress(now, operation.ring_version());
    case pb::Operation::REMOVE_VIEW_MANAGER:
    case pb::Operation::RECOVER_VIEW_MANAGER:
    case pb::Operation::REBALANCE:
      if (operation.ring_version() == 0) return "a ring is being made";
      return ring_progress(now, operation.ring_version());
    case pb::Operation::ADD_NODE:
      if (!now.is_node_alive(member)) return "waits for " + member + " to register";
      return "owns " + of(now.owned_by(member), now.live_regions().size()) + " regions";
    case pb::Operation::REMOVE_NODE:
    case pb::Operation::RECOVER_NODE: return leaving_progress(now, member);
    case pb::Operation::MOVE_REGION: {
      const pb::RegionEntry* entry = now.region(operation.regions(0));
      if (entry && entry->owner() == member) return "waits until " + member + " serves it";
      return "waits for a checkpoint on " + member;
    }
    case pb::Operation::SPLIT_REGION:
    case pb::Operation::MERGE_REGIONS: return change_progress(now, operation);
    default: return "under way";
  }
}

std::string status_text(const Situation& now) {
  const ClusterFacts& f = now.facts;
  Lag lag = worst_lag(now);
  std::string out =
      "cluster " + std::to_string(f.cluster.cluster()) + ": " + std::to_string(f.cluster.shards()) +
      " shards, " + std::to_string(now.live_regions().size()) + " regions, ring " +
      std::to_string(f.ring.ring().version()) + ", region map " + std::to_string(f.map.version()) +
      ", catalog " + std::to_string(f.catalog.version()) + "\n";
  out += "coordinator: " + now.settings.name + "\n";
  out += "lag: " + std::to_string(lag.records) + " records, " + millis(lag.micros);
  if (lag.unreported > 0) out += ", " + std::to_string(lag.unreported) + " regions not reported";
  out += "\n\nnodes\n";
  for (const auto& wish : f.wishes.nodes()) {
    out += "  " + padded(wish.name(), 16) +
           padded(member_state(now.is_node_alive(wish.name()), wish.leaving()), 14);
    out += "owns " + std::to_string(now.owned_by(wish.name())) + ", holds " +
           std::to_string(now.replicas_on(wish.name())) + "\n";
  }
  out += "view managers\n";
  for (const auto& wish : f.wishes.view_managers()) {
    out += "  " + padded(wish.name(), 16) +
           padded(member_state(now.is_identity_alive(wish.name()), wish.leaving()), 14);
    out += std::to_string(shards_of(f.ring.ring(), wish.name())) + " shards";
    for (const auto& bearer : f.ring.bearers())
      if (bearer.identity() == wish.name()) out += ", borne by " + bearer.process();
    out += "\n";
  }
  out += "regions\n";
  for (const auto& entry : f.map.regions()) {
    out += "  " + padded(std::to_string(entry.region()), 6) + padded(shards_text(entry.shards()), 18) +
           padded(entry.owner(), 12) + padded(replicas_text(now, entry), 24) + region_state(now, entry) +
           "\n";
  }
  if (pb::FreshnessReply fresh = freshness_of(now); fresh.views_size() > 0) {
    out += "views\n";
    for (const auto& view : fresh.views())
      out += "  " + padded(view.name(), 24) + describe_freshness(view) + "\n";
  }
  if (f.staged.operations_size() > 0) out += "staged: " + std::to_string(f.staged.operations_size()) + "\n";
  out += f.operations.running().empty() ? "nothing is running\n" : "running\n";
  for (const auto& operation : f.operations.running())
    out += "  " + std::to_string(operation.id()) + " " + title_of(operation) + ": " +
           progress_of(now, operation) + "\n";
  return out;
}

std::string status_json(const Situation& now) {
  const ClusterFacts& f = now.facts;
  Lag lag = worst_lag(now);
  pb::FreshnessReply fresh = freshness_of(now);
  JsonWriter json;
  json.object([&] {
    json.field("cluster", f.cluster.cluster());
    json.field("shards", f.cluster.shards());
    json.field("coordinator", now.settings.name);
    json.field("ring_version", f.ring.ring().version());
    json.field("map_version", f.map.version());
    json.field("catalog_version", f.catalog.version());
    json.field("lag_records", lag.records);
    json.field("lag_micros", lag.micros);
    json.array("nodes", [&] {
      for (const auto& wish : f.wishes.nodes())
        json.object([&] {
          json.field("name", wish.name());
          json.field("alive", now.is_node_alive(wish.name()));
          json.field("leaving", wish.leaving());
          json.field("owns", static_cast<uint64_t>(now.owned_by(wish.name())));
          json.field("holds", static_cast<uint64_t>(now.replicas_on(wish.name())));
        });
    });
    json.array("view_managers", [&] {
      for (const auto& wish : f.wishes.view_managers())
        json.object([&] {
          json.field("name", wish.name());
          json.field("alive", now.is_identity_alive(wish.name()));
          json.field("leaving", wish.leaving());
          json.field("shards", shards_of(f.ring.ring(), wish.name()));
          for (const auto& bearer : f.ring.bearers())
            if (bearer.identity() == wish.name()) json.field("borne_by", bearer.process());
        });
    });
    json.array("regions", [&] {
      for (const auto& entry : f.map.regions())
        json.object([&] {
          json.field("region", entry.region());
          json.field("first_shard", entry.shards().begin());
          json.field("end_shard", entry.shards().end());
          json.field("owner", entry.owner());
          json.field("state", region_state(now, entry));
          if (const pb::RegionStatus* status = now.status(entry.region(), entry.owner())) {
            json.field("lag_records", status->lag_records());
            json.field("lag_micros", status->lag_micros());
            json.field("changes_per_second", status->changes_per_second());
          }
          json.array("replicas", [&] {
            for (const auto& replica : entry.replicas())
              json.object([&] {
                json.field("node", replica.node());
                json.field("checkpoint", now.has_checkpoint(entry, replica.node()));
              });
          });
        });
    });
    json.array("views", [&] {
      for (const auto& view : fresh.views()) json.object([&] { write_view(view, json); });
    });
    json.array("running", [&] {
      for (const auto& operation : f.operations.running())
        json.object([&] {
          json.field("operation", operation.id());
          json.field("what", title_of(operation));
          json.field("progress", progress_of(now, operation));
        });
    });
  });
  return json.text() + "\n";
}

std::string history_text(const Situation& now) {
  std::string out;
  for (const auto& operation : now.facts.history.operations()) {
    out += padded(std::to_string(operation.id()), 6) + padded(title_of(operation), 28) +
           padded(pb::Operation::Outcome_Name(operation.outcome()), 11) + "took " +
           millis(operation.ended_at_micros() - operation.begun_at_micros());
    if (operation.pauses_size() > 0)
      out += ", " + std::to_string(operation.pauses_size()) + " runs of lanes paused, at most " +
             millis(longest_pause(operation));
    if (!operation.message().empty()) out += " (" + operation.message() + ")";
    out += "\n";
  }
  return out.empty() ? "nothing has ended yet\n" : out;
}

std::string history_json(const Situation& now) {
  JsonWriter json;
  json.object([&] {
    json.array("history", [&] {
      for (const auto& operation : now.facts.history.operations())
        json.object([&] {
          json.field("operation", operation.id());
          json.field("what", title_of(operation));
          json.field("outcome", pb::Operation::Outcome_Name(operation.outcome()));
          json.field("message", operation.message());
          json.field("begun_at_micros", operation.begun_at_micros());
          json.field("ended_at_micros", operation.ended_at_micros());
          json.array("pauses", [&] {
            for (const auto& pause : operation.pauses())
              json.object([&] {
                json.field("first_lane", pause.lanes().begin());
                json.field("end_lane", pause.lanes().end());
                json.field("micros", pause.micros());
              });
          });
        });
    });
  });
  return json.text() + "\n";
}

}  // namespace tidemark
