#include "tests/simulation/checkers/reader_sees_prefix.h"

#include <algorithm>

namespace tidemark::sim {
namespace {

// Is there a state of the lane, after its first `least` changes or later, in which the rows asked for were as
// they were found?
bool was_so(const std::vector<LaneStep>& lane, const ClientRead& read, size_t least) {
  std::map<std::string, Row> state;
  size_t wrong = read.found.size();  // Keys that are not as found.
  auto is_right = [&](const std::string& key) {
    const auto have = state.find(key);
    const auto want = read.found.find(key);
    const bool has = have != state.end(), wants = want != read.found.end();
    return has == wants && (!has || have->second == want->second);
  };
  if (least == 0 && wrong == 0) return true;
  for (size_t i = 0; i < lane.size(); ++i) {
    const LaneStep& step = lane[i];
    const bool asked =
        step.table == read.base && std::any_of(read.keys.begin(), read.keys.end(),
                                               [&](const KeyOfTable& key) { return key.key == step.key; });
    if (asked) {
      wrong -= is_right(step.key) ? 0 : 1;
      if (step.version.row) {
        state[step.key] = *step.version.row;
      } else {
        state.erase(step.key);
      }
      wrong += is_right(step.key) ? 0 : 1;
    }
    if (i + 1 >= least && wrong == 0) return true;
  }
  return false;
}

std::string told(const ClientRead& read) {
  std::string out = read.table + ", lane " + std::to_string(read.lane.value) + ":";
  for (const auto& [key, row] : read.found) out += " " + to_string(row);
  return out;
}

// A view over a view shows a prefix of the history of the view below it, in which the rows of a batch have
// changed at once and in any order: of the base table's history it shows each row's alone.
std::vector<ClientRead> parts_of(const ClientRead& read) {
  if (!read.table.starts_with("again_")) return {read};
  std::vector<ClientRead> out;
  for (const KeyOfTable& key : read.keys) {
    ClientRead part = read;
    part.keys = {key};
    std::erase_if(part.found, [&](const auto& row) { return row.first != key.key; });
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace

void ReaderSeesPrefix::on_read(const ClientRead& read) {
  for (const ClientRead& part : parts_of(read))
    if (!was_so(evidence_.history.lane(read.lane), part, 0)) violated("was never so: " + told(part));
}

void ReadYourWrites::on_read(const ClientRead& read) {
  if (!read.after) return;
  const std::vector<LaneStep>& lane = evidence_.history.lane(read.lane);
  size_t least = 0;
  while (least < lane.size() && lane[least].version.at < *read.after) ++least;
  for (const ClientRead& part : parts_of(read))
    if (!was_so(lane, part, least)) violated("is older than its token: " + told(part));
}

}  // namespace tidemark::sim
