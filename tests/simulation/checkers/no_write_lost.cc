#include "tests/simulation/checkers/no_write_lost.h"

#include "proto/change.h"

namespace tidemark::sim {

void NoWriteLost::on_write_begun(const ClientWrite& write) {
  for (const RowWrite& row : write.rows) {
    if (row.stamp) puts_[*row.stamp] = {write.begun, Micros{-1}, false, {}, row.table + "/" + row.key};
  }
}

void NoWriteLost::on_record(const SeenRecord& record, const SeenStream& stream) {
  if (!record.body || !record.body->has_commit()) return;
  Change change;
  for (ChangeReader reader(record.body->commit().changes()); reader.next(change);) {
    const std::string* table = evidence_.tables.name(change.table);
    if (table == nullptr || !evidence_.tables.is_base(*table) || !change.after) continue;
    const auto row = evidence_.tables.decode(*table, change.key, *change.after);
    note({*table, std::string(change.key), {{stream.generation, record.at, 0}, evidence_.now(), row}});
  }
}

void NoWriteLost::note(const LaneStep& step) {
  const int64_t stamp = *(*step.version.row)[3];
  const auto put = puts_.find(stamp);
  if (put == puts_.end())
    return violated("the log has a row that nobody wrote: stamp " + std::to_string(stamp));
  if (put->second.at) return violated("stamp " + std::to_string(stamp) + " was done twice");
  if (put->second.refused) violated("stamp " + std::to_string(stamp) + " was done after its refusal");
  put->second.at = step.version.at;
  Micros& latest = latest_begun_[put->second.row];
  if (put->second.acknowledged.value >= 0 && put->second.acknowledged < latest) {
    violated("stamp " + std::to_string(stamp) +
             " was acknowledged before a later write began, and lies after it");
  }
  latest = std::max(latest, put->second.begun);
}

void NoWriteLost::on_write_answered(const ClientWrite& write, Heard heard, const LaneRuns& tokens) {
  const ShardCount shards = evidence_.cluster.options().shards;
  for (const RowWrite& row : write.rows) {
    if (!row.stamp) continue;
    Put& put = puts_.at(*row.stamp);
    const std::string name = "stamp " + std::to_string(*row.stamp);
    if (heard == Heard::NotDone) {
      put.refused = true;
      if (put.at) violated(name + " is in the log, and its client heard that it is not");
    }
    if (heard != Heard::Acknowledged) continue;
    put.acknowledged = evidence_.now();
    if (!put.at) {
      violated(name + " was acknowledged and is not in the log");
    } else if (*put.at >= tokens.at(shards.shard_of(row.hash))) {
      violated(name + " does not lie before its token");
    }
  }
}

void NoWriteLost::on_settled() {
  for (const auto& [stamp, put] : puts_) {
    if (put.acknowledged.value >= 0 && !put.at)
      violated("stamp " + std::to_string(stamp) + " was acknowledged and is not in the log");
  }
}

}  // namespace tidemark::sim
