#include "tests/simulation/checkers/no_write_lost.h"

#include "proto/change.h"

namespace tidemark::sim {

void NoWriteLost::on_write_begun(const ClientWrite& write) {
  for (const RowWrite& row : write.rows) {
    if (row.stamp) puts_[*row.stamp] = {};
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
}

void NoWriteLost::on_write_answered(const ClientWrite& write, Heard heard, const LaneRuns& tokens) {
  const ShardCount shards = evidence_.cluster.options().shards;
  for (const RowWrite& row : write.rows) {
    const ShardId lane = shards.shard_of(row.hash);
    if (!row.stamp) {
      if (heard == Heard::Acknowledged &&
          !evidence_.history.was_absent(row.table, row.key, lane, write.begun))
        violated("a delete of write " + std::to_string(write.number) + " was acknowledged, and was not done");
      continue;
    }
    Put& put = puts_.at(*row.stamp);
    const std::string name = "stamp " + std::to_string(*row.stamp);
    if (heard == Heard::NotDone) {
      put.refused = true;
      if (put.at) violated(name + " is in the log, and its client heard that it is not");
    }
    if (heard != Heard::Acknowledged) continue;
    if (!put.at) {
      violated(name + " was acknowledged and is not in the log");
    } else if (*put.at >= tokens.at(lane)) {
      violated(name + " does not lie before its token");
    }
  }
}

}  // namespace tidemark::sim
