#include "node/region/session_table.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/mutation.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

// False: malformed.
template <typename Visit>
bool visit_outcomes(std::string_view bytes, Visit visit) {
  ByteReader reader(bytes);
  while (!reader.done()) {
    ShardId shard{reader.varint32()};
    uint32_t rows = reader.varint32();
    if (!reader.ok()) return false;
    visit(OperationOutcome{shard, rows});
  }
  return reader.ok();
}

// Adds the outcomes on `shards`, encoded.
void append_restricted(std::string& out, std::string_view outcome, ShardRange shards) {
  visit_outcomes(outcome, [&](const OperationOutcome& one) {
    if (shards.contains(one.shard)) append_outcome(out, one);
  });
}

bool any_on(std::string_view outcome, ShardRange shards) {
  bool any = false;
  visit_outcomes(outcome, [&](const OperationOutcome& one) { any = any || shards.contains(one.shard); });
  return any;
}

template <typename Entries>
auto find_entry(Entries& entries, uint64_t number) {
  return std::partition_point(entries.begin(), entries.end(),
                              [number](const auto& entry) { return entry.number < number; });
}

}  // namespace

void append_outcome(std::string& out, const OperationOutcome& outcome) {
  put_varint(out, outcome.shard.value);
  put_varint(out, outcome.rows);
}

SessionKnowledge Session::look_up(uint64_t number, ShardId shard, std::vector<OperationOutcome>& out) const {
  auto holding = std::find_if(holdings_.begin(), holdings_.end(), [&](const Holding& h) {
    return h.shards.contains(shard) || (TM_MUTATION("request entries per region") && !h.entries.empty());
  });
  if (holding == holdings_.end())
    return TM_MUTATION("session known per region") ? SessionKnowledge::Fresh : SessionKnowledge::Unknown;
  if (number < holding->lowest_unanswered && !TM_MUTATION("low numbers executed"))
    return SessionKnowledge::TooLow;
  auto entry = find_entry(holding->entries, number);
  if (entry == holding->entries.end() || entry->number != number) return SessionKnowledge::Fresh;
  size_t before = out.size();
  visit_outcomes(entry->outcome, [&](const OperationOutcome& one) {
    if (one.shard == shard || TM_MUTATION("request entries per region")) out.push_back(one);
  });
  return out.size() > before ? SessionKnowledge::Done : SessionKnowledge::Fresh;
}

const Session* SessionTable::find(const SessionKey& name) const {
  auto it = sessions_.find(name);
  return it == sessions_.end() ? nullptr : &it->second;
}

void SessionTable::open(const SessionKey& name, ShardRange shards) {
  Session& session = sessions_[name];
  TM_ASSERT(session.holdings_.empty(), name.region, name.offset);
  session.holdings_.push_back({shards, 0, {}});
}

bool SessionTable::mark(const SessionKey& name, uint64_t number, uint64_t lowest_unanswered,
                        std::string_view outcome) {
  if (!visit_outcomes(outcome, [](const OperationOutcome&) {})) return false;
  auto it = sessions_.find(name);
  if (it == sessions_.end()) return true;
  for (Session::Holding& holding : it->second.holdings_) {
    std::deque<Session::Entry>& entries = holding.entries;
    holding.lowest_unanswered = std::max(holding.lowest_unanswered, lowest_unanswered);
    while (!entries.empty() && entries.front().number < holding.lowest_unanswered) entries.pop_front();
    if (number < holding.lowest_unanswered || !any_on(outcome, holding.shards)) continue;
    auto entry = find_entry(entries, number);
    if (entry == entries.end() || entry->number != number) entry = entries.insert(entry, {number, {}});
    append_restricted(entry->outcome, outcome, holding.shards);
  }
  return true;
}

SessionTable SessionTable::restricted(ShardRange shards) const {
  SessionTable out;
  for (const auto& [name, session] : sessions_) {
    Session kept;
    for (const Session::Holding& holding : session.holdings_) {
      ShardRange both{std::max(holding.shards.begin, shards.begin), std::min(holding.shards.end, shards.end)};
      if (both.empty()) continue;
      Session::Holding& mine =
          kept.holdings_.emplace_back(Session::Holding{both, holding.lowest_unanswered, {}});
      for (const Session::Entry& entry : holding.entries) {
        if (!any_on(entry.outcome, both) || TM_MUTATION("request entries lost on a split")) continue;
        append_restricted(mine.entries.emplace_back(Session::Entry{entry.number, {}}).outcome, entry.outcome,
                          both);
      }
    }
    if (!kept.holdings_.empty()) out.sessions_.emplace(name, std::move(kept));
  }
  return out;
}

void SessionTable::merge(const SessionTable& other) {
  for (const auto& [name, session] : other.sessions_) {
    std::vector<Session::Holding>& mine = sessions_[name].holdings_;
    mine.insert(mine.end(), session.holdings_.begin(), session.holdings_.end());
    std::sort(mine.begin(), mine.end(), [](const auto& a, const auto& b) { return a.shards < b.shards; });
  }
}

void SessionTable::to_pb(Messages& out) const {
  for (const auto& [name, session] : sessions_) {
    pb::RegionSnapshot::Session& message = *out.Add();
    message.mutable_name()->set_region(name.region.value);
    message.mutable_name()->set_offset(name.offset.value);
    for (const Session::Holding& holding : session.holdings_) {
      auto& to = *message.add_holdings();
      *to.mutable_shards() = tidemark::to_pb(holding.shards);
      to.set_lowest_unanswered(holding.lowest_unanswered);
      for (const Session::Entry& entry : holding.entries) {
        auto& one = *to.add_entries();
        one.set_number(entry.number);
        one.set_outcome(entry.outcome);
      }
    }
  }
}

SessionTable SessionTable::from_pb(const Messages& sessions) {
  SessionTable out;
  for (const pb::RegionSnapshot::Session& message : sessions) {
    Session& session = out.sessions_[tidemark::from_pb(message.name())];
    for (const auto& holding : message.holdings()) {
      auto& to = session.holdings_.emplace_back(
          Session::Holding{tidemark::from_pb(holding.shards()), holding.lowest_unanswered(), {}});
      for (const auto& entry : holding.entries()) to.entries.push_back({entry.number(), entry.outcome()});
    }
  }
  return out;
}

}  // namespace tidemark
