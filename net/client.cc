#include "net/client.h"

#include <algorithm>

#include "base/mutation.h"
#include "net/request_table.h"
#include "net/write_tracker.h"
#include "proto/convert.h"
#include "proto/messages.pb.h"

namespace tidemark {

namespace {

ClientFailure refused(const pb::Message& answer) {
  const pb::Refusal& refusal = answer.refusal();
  ClientError code = refusal.code() == pb::STALE_CATALOG ? ClientError::StaleCatalog : ClientError::Refused;
  return {code, refusal.message().empty() ? pb::RefusalCode_Name(refusal.code()) : refusal.message()};
}

ClientFailure timed_out() {
  return {ClientError::TimedOut, "no answer in time"};
}

// REQUIRES: `places` rise.
void take_off(std::vector<KeyOfTable>& keys, const std::vector<size_t>& places) {
  std::vector<KeyOfTable> left;
  auto next = places.begin();
  for (size_t i = 0; i < keys.size(); ++i) {
    if (next != places.end() && *next == i) {
      ++next;
    } else {
      left.push_back(std::move(keys[i]));
    }
  }
  keys = std::move(left);
}

}  // namespace

void WriteBatch::add(const Operation& operation) {
  Owned& owned = operations_.emplace_back();
  owned.hash = operation.hash;
  append_operation(owned.encoded, operation);
  bytes_ += owned.encoded.size();
}

class Client::Impl {
 public:
  Impl(Scheduler& scheduler, Transport& transport, RegionDirectory& directory, Random& random,
       ClientOptions options)
      : scheduler_(scheduler),
        transport_(transport),
        directory_(directory),
        options_(options),
        requests_(scheduler, transport, directory, random,
                  {options.reply_timeout, options.retry_delay_min, options.retry_delay_max}),
        writes_(scheduler, requests_, directory, random, options_, seen_) {
    transport.set_handlers({[this](const Address&, MessagePtr message) { requests_.on_message(*message); },
                            [this](const Address& peer) { requests_.on_disconnect(peer); }});
  }
  ~Impl() { transport_.set_handlers({}); }

  WriteTracker& writes() { return writes_; }

  void get(TableId table, std::vector<KeyOfTable> keys, Done<std::string> done);
  void scan(const ScanSpec& spec, ScanPosition from, Done<RowPage> done);
  void wait(std::vector<TableId> path, LaneRuns tokens, std::optional<ShardId> shard,
            Done<std::monostate> done);

 private:
  struct GetState {
    TableId table;
    std::vector<KeyOfTable> keys;
    std::string rows;
    Micros deadline{};
    Done<std::string> done;
  };
  struct WaitState {
    std::vector<TableId> path;
    size_t stage = 0;
    LaneRuns tokens;
    LaneRuns passed_on;
    ShardId at;  // The stage has been waited for on all shards before this one.
    std::optional<ShardId> target;
    Micros deadline{};
    Done<std::monostate> done;
  };

  Micros deadline() const { return Micros{scheduler_.now().value + options_.deadline.value}; }

  // Asks the region of a shard; `fill` completes the message for the region as it is now known. When another
  // region has the shard before an answer came, that one is asked under a new number: what the first may
  // still answer is of other shards than the message was filled with last.
  void ask_region(ShardId shard, Micros deadline, std::function<void(const RegionPlace&, pb::Message&)> fill,
                  std::function<void(const pb::Message&)> on_answer, std::function<void()> on_deadline);
  void get_next(std::shared_ptr<GetState> state);
  void wait_next(std::shared_ptr<WaitState> state);
  pb::Position seen(ShardRange region) const;
  RowPage page_of(const ScanSpec& spec, ShardRange shards, const pb::RowsReply& reply) const;

  Scheduler& scheduler_;
  Transport& transport_;
  RegionDirectory& directory_;
  ClientOptions options_;
  RequestTable requests_;
  // How far the logs of the shards' regions were read, by answers to writes and waits. No read is answered
  // from before: the client sees its own writes, also where an owner that was replaced does not know it yet.
  LaneRuns seen_;
  WriteTracker writes_;
};

void Client::Impl::ask_region(ShardId shard, Micros deadline,
                              std::function<void(const RegionPlace&, pb::Message&)> fill,
                              std::function<void(const pb::Message&)> on_answer,
                              std::function<void()> on_deadline) {
  RequestTable::Question question;
  question.make = [this, shard, deadline, fill = std::move(fill), on_answer, on_deadline,
                   asked = std::optional<RegionId>()](uint64_t id, Address& to) mutable -> MessagePtr {
    const RegionPlace* place = directory_.find(shard);
    if (!place || place->address.value.empty()) return nullptr;
    if (asked.value_or(place->region) != place->region) {
      ask_region(shard, deadline, fill, on_answer, on_deadline);
      requests_.drop(id);  // And this function with it.
      return nullptr;
    }
    asked = place->region;
    to = place->address;
    auto message = std::make_shared<pb::Message>();
    message->set_request(id);
    fill(*place, *message);
    return message;
  };
  question.on_answer = std::move(on_answer);
  question.on_deadline = std::move(on_deadline);
  question.deadline = deadline;
  requests_.ask(std::move(question));
}

void Client::Impl::get(TableId table, std::vector<KeyOfTable> keys, Done<std::string> done) {
  auto state = std::make_shared<GetState>();
  *state = {table, std::move(keys), {}, deadline(), std::move(done)};
  get_next(state);
}

// Region by region: of those keys that lie in the region of the last one as many are asked for as a message
// should hold, and taken off as far as they are answered.
void Client::Impl::get_next(std::shared_ptr<GetState> state) {
  if (state->keys.empty()) return state->done(std::move(state->rows));
  auto asked = std::make_shared<std::vector<size_t>>();  // Where they are among the keys.
  auto fill = [this, state, asked](const RegionPlace& place, pb::Message& message) {
    asked->clear();
    pb::GetRequest& get = *message.mutable_get();
    get.set_region(place.region.value);
    get.set_table(state->table.value);
    *get.mutable_seen() = seen(place.shards);
    size_t bytes = 0;
    for (size_t i = 0; i < state->keys.size() && bytes < options_.page_bytes_max; ++i) {
      const KeyOfTable& key = state->keys[i];
      if (!place.shards.contains(options_.shards.shard_of(key.hash))) continue;
      get.add_keys(key.key);
      get.add_hashes(key.hash);
      asked->push_back(i);
      bytes += key.key.size();
    }
  };
  auto on_answer = [this, state, asked](const pb::Message& answer) {
    if (!answer.has_rows()) return state->done(refused(answer));
    if (answer.rows().keys_left() >= asked->size())
      return state->done(ClientFailure{ClientError::Refused, "an answer to no key"});
    state->rows += answer.rows().rows();
    asked->resize(asked->size() - answer.rows().keys_left());
    take_off(state->keys, *asked);
    get_next(state);
  };
  ask_region(options_.shards.shard_of(state->keys.back().hash), state->deadline, fill, on_answer,
             [state] { state->done(timed_out()); });
}

void Client::Impl::scan(const ScanSpec& spec, ScanPosition from, Done<RowPage> done) {
  if (spec.hash && !from.after_key) from.hash = *spec.hash;
  auto shards = std::make_shared<ShardRange>();
  auto fill = [this, spec, from, shards](const RegionPlace& place, pb::Message& message) {
    *shards = place.shards;
    pb::ScanRequest& scan = *message.mutable_scan();
    scan.set_region(place.region.value);
    scan.set_table(spec.table.value);
    *scan.mutable_seen() = seen(place.shards);
    if (from.after_key) {
      put_ordered64(*scan.mutable_cursor(), from.hash);
      scan.mutable_cursor()->append(*from.after_key);
    }
    if (spec.hash) {
      scan.set_has_hash(true);
      scan.set_hash(*spec.hash);
      scan.set_key_prefix(spec.key_prefix);
    }
    scan.set_reverse(spec.reverse);
    scan.set_rows_max(spec.rows_max);
    scan.set_bytes_max(options_.page_bytes_max);
  };
  auto on_answer = [this, spec, shards, done](const pb::Message& answer) {
    if (!answer.has_rows()) return done(refused(answer));
    done(page_of(spec, *shards, answer.rows()));
  };
  ask_region(options_.shards.shard_of(from.hash), deadline(), fill, on_answer, [done] { done(timed_out()); });
}

RowPage Client::Impl::page_of(const ScanSpec& spec, ShardRange shards, const pb::RowsReply& reply) const {
  RowPage page;
  page.rows = reply.rows();
  page.count = reply.count();
  if (!reply.cursor().empty()) {
    ByteReader cursor(reply.cursor());
    uint64_t hash = cursor.ordered64();
    page.next = ScanPosition{hash, std::string(cursor.left())};
  } else if (!spec.hash && shards.end < options_.shards.all().end) {
    page.next = ScanPosition{options_.shards.first_hash(shards.end), std::nullopt};
  }
  return page;
}

void Client::Impl::wait(std::vector<TableId> path, LaneRuns tokens, std::optional<ShardId> shard,
                        Done<std::monostate> done) {
  auto state = std::make_shared<WaitState>();
  *state = {std::move(path), 0, std::move(tokens), {}, {}, shard, deadline(), std::move(done)};
  wait_next(state);
}

// Stage by stage, region by region: what a stage passes on is what the next one waits for.
void Client::Impl::wait_next(std::shared_ptr<WaitState> state) {
  bool last = state->stage + 1 >= state->path.size();
  bool single = last && state->target;
  const bool enough = state->stage == 1 && TM_MUTATION("only the first stage is waited for");
  if (state->stage == state->path.size() || enough) return state->done(std::monostate{});
  if (single && state->at <= *state->target) state->at = *state->target;
  auto fill = [state, last](const RegionPlace& place, pb::Message& message) {
    pb::WaitRequest& wait = *message.mutable_wait();
    wait.set_region(place.region.value);
    wait.set_table(state->path[state->stage].value);
    to_pb(state->tokens.runs(), *wait.mutable_tokens());
    wait.set_pass_on(!last);
  };
  auto on_answer = [this, state, single](const pb::Message& answer) {
    if (!answer.has_waited()) return state->done(refused(answer));
    auto tokens = from_pb(answer.waited().tokens(), options_.shards);
    if (!tokens.ok()) return state->done(ClientFailure{ClientError::Refused, tokens.error().message});
    for (const LaneRun& run : *tokens) state->passed_on.raise(run.lanes, run.position);
    // Of who has answered: it may be the region asked first, before the shard was another's.
    const ShardRange region = from_pb(answer.waited().reached().lanes());
    if (!region.contains(state->at) || region.end > options_.shards.all().end)
      return state->done(ClientFailure{ClientError::Refused, "an answer for other shards"});
    seen_.raise(region, from_pb(answer.waited().reached().position()));
    state->at = region.end;
    if (single || state->at >= options_.shards.all().end) {
      ++state->stage;
      state->at = ShardId{0};
      state->tokens = std::move(state->passed_on);
      state->passed_on = {};
    }
    wait_next(state);
  };
  ask_region(state->at, state->deadline, fill, on_answer, [state] { state->done(timed_out()); });
}

// The regions' logs follow upon each other by their generations: one that has not read as far as the furthest
// of its shards is behind.
pb::Position Client::Impl::seen(ShardRange region) const {
  Position furthest;
  seen_.visit(region, [&](ShardRange, Position position) {
    furthest = std::max(furthest, position);
    return true;
  });
  return to_pb(furthest);
}

Client::Client(Scheduler& scheduler, Transport& transport, RegionDirectory& directory, Random& random,
               ClientOptions options)
    : impl_(std::make_unique<Impl>(scheduler, transport, directory, random, options)) {}
Client::~Client() = default;

void Client::write(WriteBatch batch, CatalogVersion catalog, Atomicity atomicity, Done<WriteOutcome> done) {
  impl_->writes().write(std::move(batch), catalog, atomicity, std::move(done));
}
void Client::get(TableId table, std::vector<KeyOfTable> keys, Done<std::string> rows) {
  impl_->get(table, std::move(keys), std::move(rows));
}
void Client::scan(const ScanSpec& spec, ScanPosition from, Done<RowPage> done) {
  impl_->scan(spec, std::move(from), std::move(done));
}
void Client::wait(std::vector<TableId> path, LaneRuns tokens, std::optional<ShardId> shard,
                  Done<std::monostate> done) {
  impl_->wait(std::move(path), std::move(tokens), shard, std::move(done));
}

}  // namespace tidemark
