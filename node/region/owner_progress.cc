// Committed positions and tokens: docs/design.md, "Batches", "Tokens".
#include <algorithm>
#include <utility>

#include "base/buggify.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "node/region/owner.h"
#include "proto/convert.h"

namespace tidemark {

void RegionOwner::on_committed_report(const std::vector<LaneRun>& lanes) {
  const Position end = durable_.end();
  for (const LaneRun& run : lanes) {
    ShardRange mine{std::max(run.lanes.begin, identity().shards.begin),
                    std::min(run.lanes.end, identity().shards.end)};
    if (TM_MUTATION("progress written into a sealed parent") &&
        run.position.generation < identity().generation)
      continue;
    if (mine.empty() || run.position > end) continue;  // Nobody can have committed what is not there.
    reported_.raise(mine, run.position);
    has_reports_ = true;
  }
}

void RegionOwner::record_progress(RegionCommands& out) {
  bool due = inputs_.now.value - progress_at_.value >= options_.progress_interval.value;
  if (!has_reports_ || (!due && !is_progress_awaited())) return;
  has_reports_ = false;
  pb::RecordBody body;
  pb::Progress& progress = *body.mutable_progress();
  for (const LaneRun& run : reported_.runs()) {
    if (!ahead_.is_worth_recording(run.lanes, run.position)) continue;
    pb::LaneRun& message = *progress.add_committed();
    *message.mutable_lanes() = to_pb(run.lanes);
    *message.mutable_position() = to_pb(run.position);
  }
  if (progress.committed().empty()) return;
  close_commit();
  progress.mutable_reader()->set_next(queue_.next().value + 1);
  progress.mutable_reader()->set_has_incarnation(true);
  progress.mutable_reader()->set_incarnation(incarnation_.value);
  progress.mutable_reader()->set_fence_version(version_.value);
  append_control(std::move(body));
  progress_at_ = inputs_.now;
  if (TM_BUGGIFY("region: fenced anew without need")) out.refence = true;
}

// Somebody waits for a token, or a step of a plan for a marker, a seal or the end of a backfill.
bool RegionOwner::is_progress_awaited() const {
  auto ends = [](const auto& it) { return it.second.done; };  // A slow one would be awaited for days.
  bool a_backfill_ends = std::any_of(ahead_.backfills().begin(), ahead_.backfills().end(), ends);
  return !waits_.empty() || !committed_waits_.empty() || ahead_.ring_acknowledged() != ahead_.ring() ||
         a_backfill_ends || !ahead_.committed_past_parents();
}

void RegionOwner::on_committed_positions(const std::vector<LaneRun>& lanes) {
  for (const LaneRun& run : lanes) recorded_.raise(run.lanes, run.position);
  has_news_ = true;
}

void RegionOwner::on_committed_request(const Asker& asker, const pb::CommittedRequest& request,
                                       RegionCommands& out) {
  Result<std::vector<LaneRun>> wanted = from_pb(request.wanted(), identity().shard_count);
  if (!wanted) return send(out, asker, refuse(pb::MALFORMED, wanted.error().message));
  for (const LaneRun& run : *wanted) {
    if (!identity().shards.contains(run.lanes))
      return send(out, asker, not_owner(identity().region, inputs_.facts));
  }
  has_news_ = true;
  for (CommittedWait& wait : committed_waits_) {
    if (wait.asker != asker || wait.wanted != *wanted) continue;
    wait.heard_at = inputs_.now;  // It asks again.
    return;
  }
  if (committed_waits_.size() >= options_.waiters_max) committed_waits_.erase(committed_waits_.begin());
  committed_waits_.push_back({asker, std::move(*wanted), inputs_.now});
}

void RegionOwner::serve_committed_waits(RegionCommands& out) {
  std::erase_if(committed_waits_, [&](const CommittedWait& wait) {
    pb::Message reply;
    for (const LaneRun& run : wait.wanted) {
      if (!durable_.committed().all_reached(run.lanes, run.position)) return false;
      PbLaneRuns recorded;
      to_pb(durable_.committed().cover(run.lanes), recorded);
      reply.mutable_committed_positions()->mutable_recorded()->MergeFrom(recorded);
    }
    reply.mutable_committed_positions();
    send(out, wait.asker, std::move(reply));
    return true;
  });
}

void RegionOwner::on_wait(const Asker& asker, const pb::WaitRequest& request, RegionCommands& out) {
  Result<std::vector<LaneRun>> tokens = from_pb(request.tokens(), identity().shard_count);
  if (!tokens) return send(out, asker, refuse(pb::MALFORMED, tokens.error().message));
  if (durable_.catalog().find(TableId{request.table()}) == nullptr) {
    return send(out, asker, refuse(pb::STALE_CATALOG, "no such table"));
  }
  has_news_ = true;
  for (TokenWait& wait : waits_) {
    if (wait.asker != asker) continue;
    wait.heard_at = inputs_.now;  // It asks again.
    return;
  }
  if (waits_.size() >= options_.waiters_max) {
    return send(out, asker, refuse(pb::OVERLOADED, "too many reads wait for tokens"));
  }
  waits_.push_back({asker, std::move(*tokens), request.pass_on(), inputs_.now, std::nullopt});
}

void RegionOwner::serve_those_who_wait(RegionCommands& out) {
  bool has_news = std::exchange(has_news_, false);
  if (has_news) serve_committed_waits(out);
  forget_the_gone();
  bool ask_due =
      std::any_of(waits_.begin(), waits_.end(), [&](const TokenWait& wait) { return is_ask_due(wait); });
  if (has_news || ask_due) serve_waits(out);
  unite_parts(has_news, out);
}

void RegionOwner::forget_the_gone() {
  auto is_gone = [&](const auto& wait) {
    return inputs_.now.value - wait.heard_at.value >= options_.waiter_idle.value;
  };
  std::erase_if(waits_, is_gone);
  std::erase_if(committed_waits_, is_gone);
}

bool RegionOwner::is_ask_due(const TokenWait& wait) const {
  return !wait.asked_at || inputs_.now.value - wait.asked_at->value >= options_.ask_interval.value;
}

void RegionOwner::serve_waits(RegionCommands& out) {
  std::vector<LaneRun> ask;
  std::erase_if(waits_, [&](TokenWait& wait) { return serve(wait, ask, out); });
  if (!ask.empty()) out.asks.push_back({std::move(ask)});
}

// This region knows its own lanes.
void RegionOwner::add_outside(const LaneRun& run, std::vector<LaneRun>& out) const {
  ShardRange mine = identity().shards;
  ShardRange before{run.lanes.begin, std::min(run.lanes.end, mine.begin)};
  ShardRange after{std::max(run.lanes.begin, mine.end), run.lanes.end};
  if (!before.empty()) out.push_back({before, run.position});
  if (!after.empty()) out.push_back({after, run.position});
}

bool RegionOwner::serve(TokenWait& wait, std::vector<LaneRun>& ask, RegionCommands& out) {
  bool reached = true;
  bool ask_due = is_ask_due(wait);
  for (const LaneRun& token : wait.tokens) {
    if (durable_.parts().all_reached(token.lanes, token.position)) continue;
    if (TM_MUTATION("token served by what is committed") && is_recorded(token)) continue;
    reached = false;
    if (ahead_.parts().all_reached(token.lanes, token.position)) continue;  // In flight.
    if (is_recorded(token)) {
      TM_PROBE("region: a token is served by a raise");
      raise(recorded_.cover(token.lanes));
    } else if (ask_due) {
      wait.asked_at = inputs_.now;
      add_outside(token, ask);
    }
  }
  // What is still to be paged of a join is not yet behind the last change.
  const bool pages = !durable_.pending_joins().empty() && !TM_MUTATION("tokens do not wait for join pages");
  if (!reached || (wait.pass_on && pages)) return false;
  pb::Message reply;
  pb::WaitReply& waited = *reply.mutable_waited();
  *waited.mutable_reached()->mutable_lanes() = to_pb(identity().shards);
  *waited.mutable_reached()->mutable_position() = to_pb(durable_.end());
  const bool from_end = TM_MUTATION("tokens go on from the end of the log");
  const Position next = from_end ? durable_.end() : durable_.last_change();
  if (wait.pass_on) to_pb({{identity().shards, next}}, *waited.mutable_tokens());
  send(out, wait.asker, std::move(reply));
  return true;
}

bool RegionOwner::is_recorded(const LaneRun& wanted) const {
  return recorded_.all_reached(wanted.lanes, wanted.position);
}

void RegionOwner::raise(const std::vector<LaneRun>& committed) {
  if (!serves()) return;
  pb::RecordBody body;
  to_pb(committed, *body.mutable_raise()->mutable_committed());
  append_control(std::move(body));
}

// A region in parts raises them to the recorded committed positions when that makes them fewer.
void RegionOwner::unite_parts(bool has_news, RegionCommands& out) {
  if (ahead_.parts().size() == 1 || !serves() || TM_MUTATION("parts are never united")) return;
  bool ask_due =
      !unify_asked_at_ || inputs_.now.value - unify_asked_at_->value >= options_.unify_interval.value;
  if (!has_news && !ask_due) return;
  std::vector<LaneRun> floors;
  std::vector<LaneRun> ask;
  for (const LaneRun& run : ahead_.parts().differences(identity().shard_count.all())) {
    for (const LaneRun& known : recorded_.cover(run.lanes)) floors.push_back(known);
    add_outside({run.lanes, Position{}}, ask);
  }
  if (ahead_.parts().size_after_raise(floors) < ahead_.parts().size()) {
    TM_PROBE("region: parts are united by a raise");
    return raise(floors);
  }
  if (!ask_due) return;
  unify_asked_at_ = inputs_.now;
  if (!ask.empty()) out.asks.push_back({std::move(ask)});
}

}  // namespace tidemark
