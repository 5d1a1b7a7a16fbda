#include "tests/simulation/checkers/no_write_lost.h"

#include "proto/change.h"

namespace tidemark::sim {
namespace {

// May the operation be done where this is?
bool may_be_done(const RowWrite& row, const std::optional<Row>& there) {
  switch (row.kind) {
    case OperationKind::Put:
    case OperationKind::Delete: return true;
    case OperationKind::Insert:
    case OperationKind::InsertIfAbsent: return !there;
    case OperationKind::CompareAndPut:
    case OperationKind::CompareAndDelete: return there == row.expected;
  }
  return false;
}

}  // namespace

void NoWriteLost::on_write_begun(const ClientWrite& write) {
  for (const RowWrite& row : write.rows) {
    if (row.stamp) puts_[*row.stamp] = {row, false, {}};
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
  const RowWrite& asked = put->second.asked;
  const ShardId lane = evidence_.cluster.options().shards.shard_of(asked.hash);
  if (!may_be_done(asked, evidence_.history.before(asked.table, asked.key, lane, stamp)))
    violated("stamp " + std::to_string(stamp) + " lies after what it was not to be done on");
}

void NoWriteLost::check_answer(const RowWrite& row, Heard heard, Micros begun) {
  const ShardId lane = evidence_.cluster.options().shards.shard_of(row.hash);
  auto was = [&](const RowHistory::Such& such) {
    return evidence_.history.was(row.table, row.key, lane, begun, such);
  };
  const std::string name = row.table + "/" + std::to_string(row.hash);
  if (heard == Heard::Failed && !was([&](const auto& there) { return !may_be_done(row, there); }))
    violated("a write of " + name + " failed, and could have been done all the time");
  if (heard != Heard::Acknowledged) return;
  if (!row.stamp && !was([](const auto& there) { return !there; }))
    violated("a delete of " + name + " was acknowledged, and was not done");
  if (row.stamp && row.affected == 0 && !was([](const auto& there) { return there.has_value(); }))
    violated("a row of " + name + " was told to be there already, and was not");
}

void NoWriteLost::on_write_answered(const ClientWrite& write, Heard heard, const LaneRuns& tokens) {
  const ShardCount shards = evidence_.cluster.options().shards;
  for (const RowWrite& row : write.rows) {
    const ShardId lane = shards.shard_of(row.hash);
    check_answer(row, heard, write.begun);
    if (!row.stamp) continue;
    Put& put = puts_.at(*row.stamp);
    const std::string name = "stamp " + std::to_string(*row.stamp);
    const bool is_put = heard == Heard::Acknowledged && row.affected > 0;
    if (heard != Heard::Unknown && !is_put) {
      put.refused = true;
      if (put.at) violated(name + " is in the log, and its client heard that it is not");
    }
    if (!is_put) continue;
    if (!put.at) {
      violated(name + " was acknowledged and is not in the log");
    } else if (*put.at >= tokens.at(lane)) {
      violated(name + " does not lie before its token");
    }
  }
}

}  // namespace tidemark::sim
