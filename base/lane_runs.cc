#include "base/lane_runs.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

namespace {

void add_run(std::vector<LaneRun>& out, const LaneRun& run) {
  if (run.lanes.empty() || run.position == Position{}) return;
  if (!out.empty() && out.back().lanes.end == run.lanes.begin && out.back().position == run.position) {
    out.back().lanes.end = run.lanes.end;
  } else {
    out.push_back(run);
  }
}

}  // namespace

std::vector<LaneRun>::const_iterator LaneRuns::first_after(ShardId lane) const {
  return std::partition_point(runs_.begin(), runs_.end(),
                              [lane](const LaneRun& run) { return run.lanes.end <= lane; });
}

Position LaneRuns::at(ShardId lane) const {
  auto it = first_after(lane);
  return it != runs_.end() && it->lanes.contains(lane) ? it->position : Position{};
}

void LaneRuns::set(ShardRange lanes, Position position) {
  if (lanes.empty()) return;
  // The common case on the hot path: exactly one run moves on.
  auto hit = first_after(lanes.begin);
  if (hit != runs_.end() && hit->lanes == lanes && position != Position{}) {
    auto at = runs_.begin() + (hit - runs_.begin());
    bool joins_before =
        at != runs_.begin() && std::prev(at)->lanes.end == lanes.begin && std::prev(at)->position == position;
    bool joins_after = std::next(at) != runs_.end() && std::next(at)->lanes.begin == lanes.end &&
                       std::next(at)->position == position;
    if (!joins_before && !joins_after) {
      at->position = position;
      return;
    }
  }
  std::vector<LaneRun> out;
  out.reserve(runs_.size() + 2);
  bool placed = false;
  auto place = [&] {
    if (!placed) add_run(out, {lanes, position});
    placed = true;
  };
  for (const LaneRun& run : runs_) {
    if (run.lanes.end <= lanes.begin) {
      add_run(out, run);
      continue;
    }
    add_run(out, {{run.lanes.begin, std::min(run.lanes.end, lanes.begin)}, run.position});
    if (run.lanes.end > lanes.begin) place();
    add_run(out, {{std::max(run.lanes.begin, lanes.end), run.lanes.end}, run.position});
  }
  place();
  runs_ = std::move(out);
}

void LaneRuns::raise(ShardRange lanes, Position position) {
  for (const LaneRun& run : cover(lanes)) {
    if (run.position < position) set(run.lanes, position);
  }
}

void LaneRuns::raise(const LaneRuns& other) {
  for (const LaneRun& run : other.runs_) raise(run.lanes, run.position);
}

bool LaneRuns::all_at(ShardRange lanes, Position position) const {
  return visit(lanes, [&](ShardRange, Position here) { return here == position; });
}

bool LaneRuns::all_reached(ShardRange lanes, Position position) const {
  return visit(lanes, [&](ShardRange, Position here) { return here >= position; });
}

Position LaneRuns::lowest(ShardRange lanes) const {
  TM_ASSERT(!lanes.empty(), lanes);
  Position out = at(lanes.begin);
  visit(lanes, [&](ShardRange, Position here) {
    out = std::min(out, here);
    return true;
  });
  return out;
}

std::vector<LaneRun> LaneRuns::cover(ShardRange lanes) const {
  std::vector<LaneRun> out;
  visit(lanes, [&](ShardRange covered, Position position) {
    out.push_back({covered, position});
    return true;
  });
  return out;
}

}  // namespace tidemark
