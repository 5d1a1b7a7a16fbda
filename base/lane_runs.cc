#include "base/lane_runs.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

namespace {

// The first run that ends after `lane`.
std::vector<LaneRun>::const_iterator first_after(const std::vector<LaneRun>& runs, ShardId lane) {
  return std::partition_point(runs.begin(), runs.end(),
                              [lane](const LaneRun& run) { return run.lanes.end <= lane; });
}

void add_run(std::vector<LaneRun>& out, const LaneRun& run) {
  if (run.lanes.empty() || run.position == Position{}) return;
  if (!out.empty() && out.back().lanes.end == run.lanes.begin && out.back().position == run.position) {
    out.back().lanes.end = run.lanes.end;
  } else {
    out.push_back(run);
  }
}

}  // namespace

Position LaneRuns::at(ShardId lane) const {
  auto it = first_after(runs_, lane);
  return it != runs_.end() && it->lanes.contains(lane) ? it->position : Position{};
}

void LaneRuns::set(ShardRange lanes, Position position) {
  if (lanes.empty()) return;
  // The common case on the hot path: exactly one run moves on.
  auto hit = first_after(runs_, lanes.begin);
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
  for (const LaneRun& run : cover(lanes)) {
    if (run.position != position) return false;
  }
  return true;
}

bool LaneRuns::all_reached(ShardRange lanes, Position position) const {
  return lanes.empty() || lowest(lanes) >= position;
}

Position LaneRuns::lowest(ShardRange lanes) const {
  TM_ASSERT(!lanes.empty(), lanes);
  auto covering = cover(lanes);
  return std::min_element(covering.begin(), covering.end(),
                          [](const LaneRun& a, const LaneRun& b) { return a.position < b.position; })
      ->position;
}

std::vector<LaneRun> LaneRuns::cover(ShardRange lanes) const {
  std::vector<LaneRun> out;
  ShardId at = lanes.begin;
  for (auto it = first_after(runs_, lanes.begin); it != runs_.end() && it->lanes.begin < lanes.end; ++it) {
    ShardId from = std::max(it->lanes.begin, lanes.begin);
    if (at < from) out.push_back({{at, from}, Position{}});
    at = std::min(it->lanes.end, lanes.end);
    out.push_back({{from, at}, it->position});
  }
  if (at < lanes.end) out.push_back({{at, lanes.end}, Position{}});
  return out;
}

}  // namespace tidemark
