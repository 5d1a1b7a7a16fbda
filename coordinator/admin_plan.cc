// What would move if the staged operations were committed now: computed by the very steps that would do it.
#include <algorithm>

#include "coordinator/admin.h"
#include "coordinator/json_writer.h"
#include "coordinator/ring_planner.h"
#include "coordinator/step_list.h"

namespace tidemark {

namespace {

struct RegionMove {
  uint64_t region;
  std::string from;
  std::string to;
};

struct Share {
  std::string name;
  uint32_t shards_before = 0;
  uint32_t shards_after = 0;
  uint64_t load_after = 0;  // Changes per second, as measured now.
};

struct Forecast {
  std::vector<std::string> staged;
  std::vector<std::string> refused;
  std::vector<RingMove> shards;
  std::vector<RegionMove> regions;
  std::vector<Share> shares;
};

// Members that are to come count as alive.
Observed as_if_all_had_come(const Situation& now) {
  Observed out = now.observed;
  for (const auto& operation : now.facts.staged.operations()) {
    if (operation.kind() == pb::Operation::ADD_VIEW_MANAGER)
      out.view_managers[operation.member()].set_name(operation.member());
    if (operation.kind() == pb::Operation::ADD_NODE)
      out.nodes[operation.member()].set_name(operation.member());
  }
  return out;
}

void move_owner(ClusterFacts& facts, uint64_t region, const std::string& to, std::vector<RegionMove>& moves) {
  for (auto& entry : *facts.map.mutable_regions()) {
    if (entry.region() != region || entry.owner() == to) continue;
    moves.push_back({region, entry.owner(), to});
    entry.set_owner(to);
  }
}

void forecast_add_node(const Situation& now, ClusterFacts& facts, const Observed& observed,
                       const std::string& node, std::vector<RegionMove>& moves) {
  for (size_t i = 0; i < now.live_regions().size(); ++i) {
    Situation then(facts, observed, now.settings);
    auto move = steps::next_owner_move(then, node);
    if (!move) return;
    move_owner(facts, move->region, move->to, moves);
  }
}

void forecast_remove_node(const Situation& now, ClusterFacts& facts, const Observed& observed,
                          const std::string& node, std::vector<RegionMove>& moves) {
  for (const auto* entry : now.live_regions()) {
    Situation then(facts, observed, now.settings);
    if (then.region(entry->region())->owner() != node) continue;
    auto nodes = then.eligible_nodes();
    auto least = std::min_element(nodes.begin(), nodes.end(), [&](const auto& a, const auto& b) {
      return then.owned_by(a) < then.owned_by(b);
    });
    if (least != nodes.end()) move_owner(facts, entry->region(), *least, moves);
  }
}

uint64_t load_of(const pb::Ring& ring, const std::string& member, const std::vector<MeasuredLoad>& load) {
  uint64_t sum = 0;
  for (const auto& slice : ring.slices()) {
    if (ring.members(static_cast<int>(slice.member())) != member) continue;
    for (const MeasuredLoad& one : load) {
      uint32_t begin = std::max(slice.shards().begin(), one.shards.begin.value);
      uint32_t end = std::min(slice.shards().end(), one.shards.end.value);
      if (begin < end) sum += one.changes_per_second * (end - begin) / one.shards.size();
    }
  }
  return sum;
}

void forecast_ring(const Situation& now, const Situation& then, Forecast& out) {
  const pb::Ring& before = now.facts.ring.ring();
  auto step = steps::change_ring(then);
  if (!step) step = steps::balance_ring(then);
  const pb::Ring& after = step ? step->after.ring.ring() : before;
  out.shards = ring_moves(before, after);
  std::set<std::string> names(before.members().begin(), before.members().end());
  names.insert(after.members().begin(), after.members().end());
  std::vector<MeasuredLoad> load = measured_load(now);
  for (const std::string& name : names)
    out.shares.push_back({name, shards_of(before, name), shards_of(after, name), load_of(after, name, load)});
}

Forecast forecast(const Situation& now) {
  Forecast out;
  Observed observed = as_if_all_had_come(now);
  ClusterFacts facts = now.facts;
  for (const auto& operation : now.facts.staged.operations()) {
    out.staged.push_back(title_of(operation));
    Situation then(facts, observed, now.settings);
    if (auto reason = refusal_of(then, operation)) {
      out.refused.push_back(title_of(operation) + ": " + *reason);
      continue;
    }
    begin_operation(then, facts, operation);
    if (operation.kind() == pb::Operation::MOVE_REGION)
      move_owner(facts, operation.regions(0), operation.member(), out.regions);
    if (operation.kind() == pb::Operation::ADD_NODE)
      forecast_add_node(now, facts, observed, operation.member(), out.regions);
    if (operation.kind() == pb::Operation::REMOVE_NODE)
      forecast_remove_node(now, facts, observed, operation.member(), out.regions);
    if (operation.kind() == pb::Operation::REBALANCE)
      forecast_add_node(now, facts, observed, "", out.regions);
  }
  forecast_ring(now, Situation(facts, observed, now.settings), out);
  return out;
}

uint32_t shards_moving(const Forecast& plan) {
  uint32_t count = 0;
  for (const RingMove& move : plan.shards) count += move.shards.size();
  return count;
}

}  // namespace

std::string plan_text(const Situation& now) {
  Forecast plan = forecast(now);
  if (plan.staged.empty()) return "nothing is staged\n";
  std::string out;
  for (const std::string& title : plan.staged) out += "staged   " + title + "\n";
  for (const std::string& reason : plan.refused) out += "refused  " + reason + "\n";
  out += std::to_string(shards_moving(plan)) + " of " + std::to_string(now.facts.cluster.shards()) +
         " shards would move\n";
  for (const RingMove& move : plan.shards)
    out += "  shards " + std::to_string(move.shards.begin.value) + " to " +
           std::to_string(move.shards.end.value - 1) + ": " + move.from + " -> " + move.to + "\n";
  for (const RegionMove& move : plan.regions)
    out += "  region " + std::to_string(move.region) + ": " + move.from + " -> " + move.to + "\n";
  for (const Share& share : plan.shares)
    out += "  " + share.name + ": " + std::to_string(share.shards_before) + " -> " +
           std::to_string(share.shards_after) + " shards, " + std::to_string(share.load_after) +
           " changes/s\n";
  return out;
}

std::string plan_json(const Situation& now) {
  Forecast plan = forecast(now);
  JsonWriter json;
  json.object([&] {
    json.array("staged", [&] {
      for (const std::string& title : plan.staged) json.value(title);
    });
    json.array("refused", [&] {
      for (const std::string& reason : plan.refused) json.value(reason);
    });
    json.field("shards_moving", shards_moving(plan));
    json.array("shards", [&] {
      for (const RingMove& move : plan.shards)
        json.object([&] {
          json.field("first", move.shards.begin.value);
          json.field("end", move.shards.end.value);
          json.field("from", move.from);
          json.field("to", move.to);
        });
    });
    json.array("regions", [&] {
      for (const RegionMove& move : plan.regions)
        json.object([&] {
          json.field("region", move.region);
          json.field("from", move.from);
          json.field("to", move.to);
        });
    });
    json.array("view_managers", [&] {
      for (const Share& share : plan.shares)
        json.object([&] {
          json.field("name", share.name);
          json.field("shards_before", share.shards_before);
          json.field("shards_after", share.shards_after);
          json.field("changes_per_second_after", share.load_after);
        });
    });
  });
  return json.text() + "\n";
}

}  // namespace tidemark
