#include "net/write_tracker.h"

#include <algorithm>
#include <numeric>

#include "base/probe.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

std::string describe(const pb::Refusal& refusal) {
  return refusal.message().empty() ? pb::RefusalCode_Name(refusal.code()) : refusal.message();
}

}  // namespace

std::optional<SessionKey> SessionsByShard::find(ShardId shard) const {
  for (auto it = known_.rbegin(); it != known_.rend(); ++it) {
    if (it->shards.contains(shard)) return it->session;
  }
  return std::nullopt;
}

void SessionsByShard::set(ShardRange shards, SessionKey session) {
  std::erase_if(known_, [&](const Known& known) { return shards.contains(known.shards); });
  known_.push_back({shards, session});
}

void SessionsByShard::forget(SessionKey session) {
  std::erase_if(known_, [&](const Known& known) { return known.session == session; });
}

WriteTracker::WriteTracker(Scheduler& scheduler, RequestTable& requests, RegionDirectory& directory,
                           Random& random, const ClientOptions& options, LaneRuns& seen)
    : scheduler_(scheduler),
      requests_(requests),
      directory_(directory),
      random_(random),
      options_(options),
      seen_(seen) {}

ShardId WriteTracker::shard_of(const Write& write, size_t index) const {
  return options_.shards.shard_of(write.batch.operations_[index].hash);
}

void WriteTracker::write(WriteBatch batch, CatalogVersion catalog, Atomicity atomicity,
                         Client::Done<WriteOutcome> done) {
  uint64_t number = next_number_++;
  Write& write = writes_[number];
  write.batch = std::move(batch);
  write.catalog = catalog;
  write.deadline = Micros{scheduler_.now().value + options_.deadline.value};
  write.left = write.batch.size();
  write.states.resize(write.left);
  write.done = std::move(done);
  write.atomicity = atomicity;
  if (write.left == 0) return end(number, {}, std::nullopt);
  dispatch(number);
}

// Cuts what is neither ended nor on its way into pieces, one per region and session.
void WriteTracker::dispatch(uint64_t number) {
  auto it = writes_.find(number);
  if (it == writes_.end()) return;
  Write& write = it->second;
  const bool whole = write.atomicity == Atomicity::Whole;
  if (whole && (is_on_its_way(write) || ended_by_regions(number))) return;
  std::map<std::pair<RegionId, SessionKey>, Indexes> pieces;
  Indexes unplaced;
  bool all_ready = true;
  for (size_t i = 0; i < write.states.size(); ++i) {
    OperationState& state = write.states[i];
    if (state.ended || state.assigned) continue;
    ShardId shard = shard_of(write, i);
    const RegionPlace* place = directory_.find(shard);
    if (!place) {
      unplaced.push_back(i);
      continue;
    }
    if (!state.session) state.session = sessions_.find(shard);
    if (state.session) {
      pieces[{place->region, *state.session}].push_back(i);
    } else {
      open_session(shard, write.deadline);
      all_ready = false;
    }
  }
  if (whole && pieces.size() > 1) return unite_sessions(number);
  if (whole && !(all_ready && unplaced.empty())) pieces.clear();  // It is dispatched again when all are.
  if (!unplaced.empty()) send_piece(number, std::move(unplaced));
  for (auto& [where, indexes] : pieces) send_piece(number, std::move(indexes));
}

// Then it is dispatched again when what is under way comes back.
bool WriteTracker::is_on_its_way(const Write& write) const {
  return std::any_of(write.states.begin(), write.states.end(),
                     [](const OperationState& state) { return state.assigned; });
}

// A write that is to be one request and lies in several regions, by now, is over.
bool WriteTracker::ended_by_regions(uint64_t number) {
  const Write& write = writes_.at(number);
  const RegionPlace* first = directory_.find(shard_of(write, 0));
  for (size_t i = 1; first && i < write.states.size(); ++i) {
    if (first->shards.contains(shard_of(write, i))) continue;
    end_whole(number, {ClientError::NotOneRegion, "the rows lie in several regions", i});
    return true;
  }
  return false;
}

// After regions were merged, a write may find a session for each of them; one request needs one.
void WriteTracker::unite_sessions(uint64_t number) {
  Write& write = writes_.at(number);
  if (may_be_done(write)) return end_whole(number, {});
  for (OperationState& state : write.states) state.session.reset();
  open_session(shard_of(write, 0), write.deadline);
}

bool WriteTracker::may_be_done(const Write& write) const {
  return std::any_of(write.states.begin(), write.states.end(),
                     [](const OperationState& state) { return state.attempts > 0; });
}

void WriteTracker::end_whole(uint64_t number, ClientFailure failure) {
  const Write& write = writes_.at(number);
  if (may_be_done(write)) {
    failure = {ClientError::OutcomeUnknown,
               "its region was split or merged meanwhile; it may have been done"};
  }
  Indexes all(write.states.size());
  std::iota(all.begin(), all.end(), size_t{0});
  end(number, all, std::move(failure));
}

void WriteTracker::send_piece(uint64_t number, Indexes indexes) {
  Write& write = writes_.at(number);
  for (size_t i : indexes) write.states[i].assigned = true;
  RequestTable::Question question;
  question.make = [this, number, indexes](uint64_t id, Address& to) {
    return make_piece(number, indexes, id, to);
  };
  question.on_answer = [this, number, indexes](const pb::Message& answer) {
    on_answer(number, indexes, answer);
  };
  question.on_undone = [this, number, indexes] { on_undone(number, indexes); };
  question.on_deadline = [this, number, indexes] { on_deadline(number, indexes); };
  question.deadline = write.deadline;
  requests_.ask(std::move(question));
}

// nullptr if nobody is there to send it to. If the piece no longer lies in one region under one session, it
// is dropped and its operations are dispatched anew.
MessagePtr WriteTracker::make_piece(uint64_t number, const Indexes& indexes, uint64_t id, Address& to) {
  Write& write = writes_.at(number);
  const RegionPlace* place = directory_.find(shard_of(write, indexes[0]));
  if (!place) return nullptr;
  const bool all_of_it = write.atomicity != Atomicity::Whole || indexes.size() == write.states.size();
  bool together = all_of_it && std::all_of(indexes.begin(), indexes.end(), [&](size_t i) {
                    const OperationState& state = write.states[i];
                    return place->shards.contains(shard_of(write, i)) && state.session &&
                           state.session == write.states[indexes[0]].session;
                  });
  if (!together) {
    for (size_t i : indexes) write.states[i].assigned = false;
    requests_.drop(id);
    scheduler_.post([this, number] { dispatch(number); });
    return nullptr;
  }
  if (place->address.value.empty()) return nullptr;
  to = place->address;

  auto message = std::make_shared<pb::Message>();
  message->set_request(id);
  pb::WriteRequest& request = *message->mutable_write();
  request.set_region(place->region.value);
  request.mutable_session()->set_region(write.states[indexes[0]].session->region.value);
  request.mutable_session()->set_offset(write.states[indexes[0]].session->offset.value);
  request.set_number(number);
  request.set_lowest_unanswered(writes_.begin()->first);
  request.set_catalog_version(write.catalog.value);
  for (size_t i : indexes) {
    request.mutable_operations()->append(write.batch.operations_[i].encoded);
    ++write.states[i].attempts;
  }
  return message;
}

void WriteTracker::on_answer(uint64_t number, const Indexes& indexes, const pb::Message& answer) {
  Write& write = writes_.at(number);
  for (size_t i : indexes) write.states[i].assigned = false;
  if (answer.has_refusal()) {
    const pb::Refusal& refusal = answer.refusal();
    if (refusal.code() == pb::SESSION_EXPIRED) return on_expired(number, indexes);
    ClientError code = refusal.code() == pb::STALE_CATALOG    ? ClientError::StaleCatalog
                       : refusal.code() == pb::NUMBER_TOO_LOW ? ClientError::OutcomeUnknown
                                                              : ClientError::Refused;
    return end(number, indexes, honest(write, indexes, {code, describe(refusal)}));
  }
  if (!answer.has_written()) {
    return end(number, indexes, ClientFailure{ClientError::OutcomeUnknown, "an answer of another kind"});
  }
  const pb::WriteReply& reply = answer.written();
  if (!reply.failed().empty()) {
    size_t at = std::min<size_t>(reply.failed_operation(), indexes.size() - 1);
    return end(number, indexes, honest(write, indexes, {ClientError::Failed, reply.failed(), indexes[at]}));
  }
  for (int k = 0; k < reply.rows_affected_size() && static_cast<size_t>(k) < indexes.size(); ++k) {
    write.states[indexes[static_cast<size_t>(k)]].rows_affected = reply.rows_affected(k);
  }
  auto tokens = from_pb(reply.tokens(), options_.shards);
  if (tokens.ok()) {
    for (const LaneRun& run : *tokens) write.tokens.raise(run.lanes, run.position);
  }
  const ShardRange region = from_pb(reply.reached().lanes());
  if (!region.empty() && options_.shards.all().contains(region))
    seen_.raise(region, from_pb(reply.reached().position()));
  end(number, indexes, std::nullopt);
}

void WriteTracker::on_undone(uint64_t number, const Indexes& indexes) {
  for (size_t i : indexes) {
    OperationState& state = writes_.at(number).states[i];
    if (state.attempts > 0) --state.attempts;  // Else the peer has answered twice.
  }
}

bool WriteTracker::is_only_attempt(const Write& write, const Indexes& indexes) const {
  return std::all_of(indexes.begin(), indexes.end(), [&](size_t i) { return write.states[i].attempts <= 1; });
}

ClientFailure WriteTracker::honest(const Write& write, const Indexes& indexes, ClientFailure failure) const {
  if (is_only_attempt(write, indexes)) return failure;
  return {ClientError::OutcomeUnknown, failure.message + "; an earlier attempt may have been done"};
}

// The region does not know the session: this attempt was not executed. If it was the only one, nothing was.
void WriteTracker::on_expired(uint64_t number, const Indexes& indexes) {
  Write& write = writes_.at(number);
  sessions_.forget(*write.states[indexes[0]].session);
  if (!is_only_attempt(write, indexes)) {
    TM_PROBE("client: a session has expired with a write of unknown outcome");
    return end(number, indexes, ClientFailure{ClientError::OutcomeUnknown, "the session has expired"});
  }
  for (size_t i : indexes) {
    write.states[i].session.reset();
    write.states[i].attempts = 0;
  }
  dispatch(number);
}

void WriteTracker::on_deadline(uint64_t number, const Indexes& indexes) {
  const Write& write = writes_.at(number);
  bool sent =
      std::any_of(indexes.begin(), indexes.end(), [&](size_t i) { return write.states[i].attempts > 0; });
  end(number, indexes,
      sent ? ClientFailure{ClientError::OutcomeUnknown, "no answer in time; the write may have been done"}
           : ClientFailure{ClientError::TimedOut, "no region could be reached in time; nothing was written"});
}

// These operations are over; the last ones end the write. The worst failure of the pieces is told.
void WriteTracker::end(uint64_t number, const Indexes& indexes, std::optional<ClientFailure> failure) {
  Write& write = writes_.at(number);
  for (size_t i : indexes) {
    TM_ASSERT(!write.states[i].ended);
    write.states[i].ended = true;
    --write.left;
  }
  bool worse = failure && (!write.failure || failure->code == ClientError::OutcomeUnknown);
  if (worse) write.failure = std::move(failure);
  if (write.left > 0) return;

  Write over = std::move(write);
  writes_.erase(number);
  scheduler_.post([over = std::make_shared<Write>(std::move(over))] {
    if (over->failure) return over->done(*over->failure);
    WriteOutcome outcome;
    for (const OperationState& state : over->states) outcome.rows_affected.push_back(state.rows_affected);
    outcome.tokens = std::move(over->tokens);
    over->done(std::move(outcome));
  });
}

void WriteTracker::open_session(ShardId shard, Micros deadline) {
  RegionId region = directory_.find(shard)->region;
  if (!opening_.insert(region).second) return;
  RequestTable::Question question;
  question.make = [this, shard, client = random_.next()](uint64_t id, Address& to) -> MessagePtr {
    const RegionPlace* place = directory_.find(shard);
    if (!place || place->address.value.empty()) return nullptr;
    to = place->address;
    auto message = std::make_shared<pb::Message>();
    message->set_request(id);
    message->mutable_open_session()->set_region(place->region.value);
    message->mutable_open_session()->set_client(client);
    return message;
  };
  // Whatever the answer: all writes look again, and ask for a session again if they still need one.
  auto go_on = [this, region] {
    opening_.erase(region);
    std::vector<uint64_t> numbers;
    for (const auto& [number, write] : writes_) numbers.push_back(number);
    for (uint64_t number : numbers) dispatch(number);
  };
  question.on_answer = [this, go_on](const pb::Message& answer) {
    if (answer.has_session_opened()) {
      const pb::OpenSessionReply& reply = answer.session_opened();
      sessions_.set(from_pb(reply.shards()), from_pb(reply.session()));
    }
    go_on();
  };
  question.on_deadline = [this, region] {
    opening_.erase(region);
    Micros now = scheduler_.now();
    std::vector<uint64_t> late;
    for (const auto& [number, write] : writes_) {
      if (write.deadline <= now) late.push_back(number);
    }
    for (uint64_t number : late) {
      Indexes waiting;
      const Write& write = writes_.at(number);
      for (size_t i = 0; i < write.states.size(); ++i) {
        if (!write.states[i].ended && !write.states[i].assigned) waiting.push_back(i);
      }
      if (!waiting.empty()) on_deadline(number, waiting);
    }
    std::vector<uint64_t> rest;
    for (const auto& [number, write] : writes_) rest.push_back(number);
    for (uint64_t number : rest) dispatch(number);
  };
  question.deadline = deadline;
  requests_.ask(std::move(question));
}

}  // namespace tidemark
