// Clients' requests: docs/design.md, "Requests".
#include <algorithm>
#include <string>
#include <utility>

#include "base/mutation.h"
#include "base/probe.h"
#include "node/region/owner.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

constexpr uint32_t kFresh = UINT32_MAX;  // Of rows affected: not executed yet.
constexpr size_t kMarkBytes = 48;        // Of a request mark without its outcome, at most.
constexpr int kTokenRunsMax = 16;

constexpr const char* kDuplicateKey = "23505 duplicate key value violates unique constraint";
constexpr const char* kRowChanged = "40001 could not serialize access due to concurrent update";

}  // namespace

void RegionOwner::on_write(const Asker& asker, const pb::WriteRequest& request, RegionCommands& out) {
  if (inputs_.held_back || is_overloaded()) {
    return send(out, asker, refuse(pb::OVERLOADED, "views lag or too much is in flight"));
  }
  if (auto refused = read_operations(request)) return send(out, asker, std::move(*refused));
  // What is refused here is told by the log, part of which may be in flight.
  if (auto refused = look_up(request)) return answer(asker, std::move(*refused), out);

  maker_.begin();
  if (auto failure = execute()) {
    if (TM_MUTATION("a failed request is done up to its failure")) {
      mark(request);
    } else {
      maker_.rollback();
    }
    pb::Message reply;
    reply.mutable_written()->set_failed(failure->text);
    reply.mutable_written()->set_failed_operation(static_cast<uint32_t>(failure->operation));
    prove_ownership();
    return answer(asker, std::move(reply), out);
  }
  size_t bytes = maker_.changes().size() + outcome_.size() + kMarkBytes;
  if (bytes > options_.record_bytes_max) {
    maker_.rollback();
    return send(out, asker, refuse(pb::TOO_LARGE, "the request's changes do not fit one record"));
  }
  // Also what found nothing to do: an earlier attempt that comes late would find something, and undo what was
  // done since. And who answers has proved that the region is still its own.
  const bool done_before = outcome_.empty();
  const bool forgets = maker_.changes().empty() && TM_MUTATION("what found nothing to do is forgotten");
  if (done_before || forgets) {
    maker_.rollback();
  } else {
    mark(request);
  }
  if (done_before && TM_MUTATION("a retry does not wait for its original"))
    return send(out, asker, write_reply());
  answer(asker, write_reply(), out);
}

std::optional<pb::Message> RegionOwner::read_operations(const pb::WriteRequest& request) {
  if (request.lowest_unanswered() > request.number()) {
    return refuse(pb::MALFORMED, "the request's number is below its lowest unanswered one");
  }
  if (request.operations().size() > options_.record_bytes_max) {
    return refuse(pb::TOO_LARGE, "a request must fit one record");
  }
  if (request.catalog_version() > ahead_.catalog().version().value) {
    return refuse(pb::CATALOG_BEHIND, "the region has not reached the request's catalog version");
  }
  operations_.clear();
  OperationReader reader(request.operations());
  for (Operation operation; reader.next(operation);) {
    if (auto refused = check_operation(operation)) return refused;
    operations_.push_back(operation);
  }
  if (!reader.ok() || operations_.empty()) return refuse(pb::MALFORMED, "malformed operations");
  return std::nullopt;
}

std::optional<pb::Message> RegionOwner::check_operation(const Operation& operation) const {
  const Table* table = ahead_.catalog().find(operation.table);
  if (table == nullptr) return refuse(pb::STALE_CATALOG, "no such table");
  if (table->definition->kind() != pb::MANAGED) return refuse(pb::MALFORMED, "not a table to write to");
  if (!identity().shards.contains(identity().shard_count.shard_of(operation.hash))) {
    return not_owner(identity().region, inputs_.facts);
  }
  if (operation.key.size() + operation.row.size() > options_.row_bytes_max) {
    return refuse(pb::TOO_LARGE, "a row is larger than " + std::to_string(options_.row_bytes_max) + " bytes");
  }
  return std::nullopt;
}

std::optional<pb::Message> RegionOwner::look_up(const pb::WriteRequest& request) {
  SessionKey name = tidemark::from_pb(request.session());
  const Session* session = ahead_.sessions().find(name);
  if (session == nullptr && TM_MUTATION("unknown session executed")) {
    rows_affected_.assign(operations_.size(), kFresh);
    return std::nullopt;
  }
  if (session == nullptr) TM_PROBE("region: a request of an unknown session");
  if (session == nullptr) return refuse(pb::SESSION_EXPIRED, "unknown session");
  session_used_[name] = inputs_.now;
  rows_affected_.clear();
  for (size_t i = 0; i < operations_.size(); ++i) {
    ShardId shard = identity().shard_count.shard_of(operations_[i].hash);
    found_.clear();
    switch (session->look_up(request.number(), shard, found_)) {
      case SessionKnowledge::Unknown:
        return refuse(pb::SESSION_EXPIRED, "the session is not known on this shard");
      case SessionKnowledge::TooLow: return refuse(pb::NUMBER_TOO_LOW, "the request was answered before");
      case SessionKnowledge::Fresh: rows_affected_.push_back(kFresh); break;
      case SessionKnowledge::Done: {
        TM_PROBE("region: a request that was done before");
        auto earlier = std::count_if(operations_.begin(), operations_.begin() + static_cast<ptrdiff_t>(i),
                                     [&](const Operation& operation) {
                                       return identity().shard_count.shard_of(operation.hash) == shard;
                                     });
        size_t index = std::min(static_cast<size_t>(earlier), found_.size() - 1);
        rows_affected_.push_back(found_[index].rows);
      }
    }
  }
  return std::nullopt;
}

std::optional<RegionOwner::Failure> RegionOwner::execute() {
  outcome_.clear();
  for (size_t i = 0; i < operations_.size(); ++i) {
    if (i % places_.size() == 0) prefetch_operations(i);
    if (rows_affected_[i] != kFresh) continue;
    if (const char* text = execute_one(operations_[i], rows_affected_[i])) return Failure{i, text};
    append_outcome(outcome_, {identity().shard_count.shard_of(operations_[i].hash), rows_affected_[i]});
  }
  return std::nullopt;
}

void RegionOwner::prefetch_operations(size_t from) {
  const size_t count = std::min(places_.size(), operations_.size() - from);
  for (size_t i = 0; i < count; ++i) {
    const Operation& operation = operations_[from + i];
    places_[i] = {operation.table, operation.hash, operation.key};
  }
  maker_.prefetch({places_.data(), count});
}

const char* RegionOwner::execute_one(const Operation& operation, uint32_t& rows) {
  const Table& table = *ahead_.catalog().find(operation.table);
  auto write = [&](std::optional<std::string_view> row) {
    maker_.write(table, operation.hash, operation.key, row);
    rows = 1;
  };
  auto row_there = [&] { return maker_.get(table, operation.hash, operation.key); };
  rows = 0;
  switch (operation.kind) {
    case OperationKind::Put: write(operation.row); break;
    case OperationKind::Insert:
      if (row_there()) return kDuplicateKey;
      write(operation.row);
      break;
    case OperationKind::InsertIfAbsent:
      if (!row_there()) write(operation.row);
      break;
    case OperationKind::Delete:
      if (row_there() && !TM_MUTATION("deletes are not done")) write(std::nullopt);
      break;
    case OperationKind::CompareAndPut:
      if (row_there() != operation.expected) return kRowChanged;
      write(operation.row);
      break;
    case OperationKind::CompareAndDelete:
      if (row_there() != operation.expected) return kRowChanged;
      if (operation.expected) write(std::nullopt);
      break;
  }
  return nullptr;
}

void RegionOwner::mark(const pb::WriteRequest& request) {
  pb::RequestMark& mark = *commit_changes(outcome_.size() + kMarkBytes).add_requests();
  *mark.mutable_session() = request.session();
  mark.set_number(request.number());
  mark.set_lowest_unanswered(request.lowest_unanswered());
  mark.set_outcome(outcome_);
  ahead_.sessions_.mark(tidemark::from_pb(request.session()), request.number(), request.lowest_unanswered(),
                        outcome_);
}

// A retry gets later tokens than its original did: still sure to be reached.
pb::Message RegionOwner::write_reply() {
  pb::Message out;
  pb::WriteReply& reply = *out.mutable_written();
  reply.mutable_rows_affected()->Add(rows_affected_.begin(), rows_affected_.end());
  shards_.clear();
  for (const Operation& operation : operations_) {
    shards_.push_back(identity().shard_count.shard_of(operation.hash));
  }
  std::sort(shards_.begin(), shards_.end());
  add_tokens(*reply.mutable_tokens());
  *reply.mutable_reached()->mutable_lanes() = to_pb(identity().shards);
  *reply.mutable_reached()->mutable_position() = to_pb(last_change());
  return out;
}

// Of many lanes one run that covers them: waiting for a few more, of the same stream, costs little.
void RegionOwner::add_tokens(PbLaneRuns& tokens) const {
  pb::Position position = to_pb(last_change());
  for (ShardId shard : shards_) {
    bool joins =
        !tokens.empty() && (shard.value <= tokens.rbegin()->lanes().end() || tokens.size() == kTokenRunsMax);
    if (!joins) {
      pb::LaneRun& run = *tokens.Add();
      run.mutable_lanes()->set_begin(shard.value);
      *run.mutable_position() = position;
    }
    tokens.rbegin()->mutable_lanes()->set_end(shard.value + 1);
  }
}

void RegionOwner::on_open_session(const Asker& asker, const pb::OpenSessionRequest& request,
                                  RegionCommands& out) {
  if (is_overloaded()) return send(out, asker, refuse(pb::OVERLOADED, "too much is in flight"));
  if (!make_room_for_session()) return send(out, asker, refuse(pb::TOO_MANY_SESSIONS, "too many sessions"));
  pb::RecordBody body;
  body.mutable_open_session()->set_client(request.client());
  Offset at = append_control(std::move(body));
  session_used_[{identity().region, at}] = inputs_.now;
  pb::Message reply;
  pb::OpenSessionReply& opened = *reply.mutable_session_opened();
  opened.mutable_session()->set_region(identity().region.value);
  opened.mutable_session()->set_offset(at.value);
  *opened.mutable_shards() = to_pb(identity().shards);
  answer(asker, std::move(reply), out);
}

// Expires the one that was unused for longest, if that was long enough.
bool RegionOwner::make_room_for_session() {
  if (ahead_.sessions().size() < options_.sessions_max) return true;
  std::optional<std::pair<Micros, SessionKey>> oldest;
  ahead_.sessions().for_each_name([&](const SessionKey& name) {
    auto used = session_used_.find(name);
    std::pair<Micros, SessionKey> one{used == session_used_.end() ? opened_at_ : used->second, name};
    if (!oldest || one < *oldest) oldest = one;
  });
  if (!oldest || inputs_.now.value - oldest->first.value < options_.session_idle.value) return false;
  pb::RecordBody body;
  body.mutable_expire_session()->mutable_session()->set_region(oldest->second.region.value);
  body.mutable_expire_session()->mutable_session()->set_offset(oldest->second.offset.value);
  append_control(std::move(body));
  session_used_.erase(oldest->second);
  return true;
}

}  // namespace tidemark
