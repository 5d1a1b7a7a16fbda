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

std::string name(const RowWrite& row) {
  return row.table + "/" + std::to_string(row.hash);
}

}  // namespace

void NoWriteLost::on_write_begun(const ClientWrite& write) {
  for (const RowWrite& row : write.rows) {
    if (!row.stamp) continue;
    puts_[*row.stamp] = {row, write.number, false, {}};
    if (write.whole) ++whole_writes_[write.number];
  }
}

void NoWriteLost::on_record(const SeenRecord& record, const SeenStream& stream) {
  if (!record.body || !record.body->has_commit()) return;
  std::map<uint64_t, size_t> done;  // By write.
  Change change;
  for (ChangeReader reader(record.body->commit().changes()); reader.next(change);) {
    const std::string* table = evidence_.tables.name(change.table);
    if (table == nullptr || !evidence_.tables.is_base(*table) || !change.after) continue;
    const auto row = evidence_.tables.decode(*table, change.key, *change.after);
    const auto write =
        note({*table, std::string(change.key), {{stream.generation, record.at, 0}, evidence_.now(), row}});
    if (write) ++done[*write];
  }
  for (const auto& [write, rows] : done) {
    const auto whole = whole_writes_.find(write);
    if (whole != whole_writes_.end() && whole->second != rows)
      violated("of write " + std::to_string(write) + ", which is whole, only a part was done");
  }
}

std::optional<uint64_t> NoWriteLost::note(const LaneStep& step) {
  const int64_t stamp = *(*step.version.row)[3];
  const auto put = puts_.find(stamp);
  if (put == puts_.end()) {
    violated("the log has a row that nobody wrote: stamp " + std::to_string(stamp));
    return std::nullopt;
  }
  if (put->second.at) violated("stamp " + std::to_string(stamp) + " was done twice");
  if (put->second.refused) violated("stamp " + std::to_string(stamp) + " was done after its refusal");
  put->second.at = step.version.at;
  const RowWrite& asked = put->second.asked;
  const ShardId lane = evidence_.cluster.options().shards.shard_of(asked.hash);
  if (!may_be_done(asked, evidence_.history.before(asked.table, asked.key, lane, stamp)))
    violated("stamp " + std::to_string(stamp) + " lies after what it was not to be done on");
  return put->second.write;
}

bool NoWriteLost::was(const RowWrite& row, Micros begun, const RowHistory::Such& such) const {
  const ShardId lane = evidence_.cluster.options().shards.shard_of(row.hash);
  return evidence_.history.was(row.table, row.key, lane, begun, such);
}

void NoWriteLost::check_failed(const RowWrite& row, Micros begun) {
  if (!was(row, begun, [&](const auto& there) { return !may_be_done(row, there); }))
    violated("a write of " + name(row) + " failed, and could have been done all the time");
}

void NoWriteLost::check_done(const RowWrite& row, Micros begun) {
  if (!row.stamp && !was(row, begun, [](const auto& there) { return !there; }))
    violated("a delete of " + name(row) + " was acknowledged, and was not done");
  if (row.stamp && row.affected == 0 && !was(row, begun, [](const auto& there) { return there.has_value(); }))
    violated("a row of " + name(row) + " was told to be there already, and was not");
}

void NoWriteLost::on_write_answered(const ClientWrite& write, Heard heard, const LaneRuns& tokens) {
  const ShardCount shards = evidence_.cluster.options().shards;
  if (heard == Heard::Failed) check_failed(write.rows.at(write.failed_row), write.begun);
  for (const RowWrite& row : write.rows) {
    const ShardId lane = shards.shard_of(row.hash);
    if (heard == Heard::Acknowledged) check_done(row, write.begun);
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
