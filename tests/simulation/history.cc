#include "tests/simulation/history.h"

#include "base/assert.h"
#include "proto/change.h"

namespace tidemark::sim {

void RowHistory::on_record(const SeenRecord& record, Generation generation, Micros now) {
  if (!record.counts || !record.body || !record.body->has_commit()) return;
  Change change;
  for (ChangeReader reader(record.body->commit().changes()); reader.next(change);) {
    const std::string* table = tables_.name(change.table);
    if (table == nullptr || !tables_.is_base(*table)) continue;
    const std::string key(change.key);
    LaneStep step{*table, key, {{generation, record.at, 0}, now, {}}};
    auto& rows = rows_[*table];
    if (change.after) {
      step.version.row = tables_.decode(*table, change.key, *change.after);
      TM_ASSERT(step.version.row.has_value());
      rows[key] = *step.version.row;
    } else {
      rows.erase(key);
    }
    lanes_[shards_.shard_of(change.hash)].push_back(std::move(step));
  }
}

const std::vector<LaneStep>& RowHistory::lane(ShardId lane) const {
  static const std::vector<LaneStep> kNone;
  const auto it = lanes_.find(lane);
  return it == lanes_.end() ? kNone : it->second;
}

bool RowHistory::was(const std::string& table, const std::string& key, ShardId lane, Micros begin,
                     const Such& such) const {
  std::optional<Row> row;  // As it was at `begin`, or became since.
  for (const LaneStep& step : this->lane(lane)) {
    if (step.table != table || step.key != key) continue;
    const bool is_earlier = step.version.landed < begin;
    if (!is_earlier && such(row)) return true;
    row = step.version.row;
  }
  return such(row);
}

std::optional<Row> RowHistory::before(const std::string& table, const std::string& key, ShardId lane,
                                      int64_t stamp) const {
  const std::vector<LaneStep>& steps = this->lane(lane);
  bool found = false;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->table != table || step->key != key) continue;
    if (found) return step->version.row;
    found = step->version.row && (*step->version.row)[3] == stamp;
  }
  TM_ASSERT(found, table, stamp);
  return std::nullopt;
}

std::optional<Row> RowHistory::row(const std::string& table, const std::string& key) const {
  const auto rows = rows_.find(table);
  if (rows == rows_.end()) return std::nullopt;
  const auto it = rows->second.find(key);
  return it == rows->second.end() ? std::nullopt : std::optional(it->second);
}

std::map<std::string, Row> RowHistory::rows(const std::string& table) const {
  const auto it = rows_.find(table);
  return it == rows_.end() ? std::map<std::string, Row>{} : it->second;
}

}  // namespace tidemark::sim
