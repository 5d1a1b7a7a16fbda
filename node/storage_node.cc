#include "node/storage_node.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/buggify.h"
#include "proto/convert.h"

namespace tidemark {

namespace {
// Less than clients wait for an answer: no write fails for it.
constexpr Micros kHoldWritesMax{20'000'000};
}  // namespace

StorageNode::StorageNode(ProcessContext context, NodeOptions options, NodeStore& store,
                         RowArithmetic& arithmetic)
    : context_(context),
      options_(std::move(options)),
      store_(store),
      arithmetic_(arithmetic),
      scheduler_(context.scheduler),
      metrics_(*options_.metrics),
      handles_(*context.logs) {
  TM_ASSERT(options_.lag_records_max > options_.feed.silent_records_max, options_.lag_records_max);
}

StorageNode::~StorageNode() {
  if (regions_) context_.transport.set_handlers({});
}

void StorageNode::start() {
  TM_ASSERT(!view_);
  save_begun_at_ = saved_at_ = scheduler_.now();
  ClusterView::Listener listener;
  listener.on_map = [this] { on_map(); };
  listener.on_rings = [this] { regions_->for_each([](RegionReplica& it) { it.on_rings_changed(); }); };
  listener.on_catalog = [this] {
    regions_->for_each([this](RegionReplica& it) { it.on_catalog(view_->catalog()); });
  };
  listener.on_view_managers = [this] {
    regions_->for_each([](RegionReplica& it) { it.on_view_managers_changed(); });
  };
  listener.on_coordinator = [this] { schedule_status(); };
  listener.say = options_.say;
  view_ = std::make_unique<ClusterView>(context_.coordination, scheduler_, options_.shards, listener);

  ReplicaContext replica{options_, context_.scheduler, context_.transport, context_.random, *context_.logs,
                         handles_, store_.rows(),      arithmetic_,        view_->rings(),  *view_,
                         metrics_};
  RegionSet::Listener news;
  news.on_status = [this](RegionId) { schedule_status(); };
  news.on_ask_committed = [this](RegionId asker, const AskCommitted& ask) { ask_committed(asker, ask); };
  regions_ = std::make_unique<RegionSet>(replica, *view_, store_, news);
  seed_sender_ = std::make_unique<SeedSender>(options_, *view_, *regions_, store_.rows(), context_.transport);
  seed_receiver_ = std::make_unique<SeedReceiver>(options_, *view_, *regions_, store_.rows(),
                                                  context_.scheduler, context_.transport);
  context_.transport.set_handlers(
      {[this](const Address& from, MessagePtr message) { on_message(from, message); },
       [this](const Address& peer) { on_disconnect(peer); }});

  pb::ProcessFact self;
  self.set_name(options_.name);
  self.set_address(options_.address);
  self.set_sql_address(options_.sql_address);
  self.set_boot(context_.random.next());
  self.set_weight(options_.weight);
  registration_ =
      std::make_unique<Registration>(context_.scheduler, context_.coordination, paths::kNodes, self);
  keep_time();
}

void StorageNode::stop(std::function<void()> done) {
  stopped_ = true;
  regions_->save([this, done = std::move(done)](const Status&) {
    registration_->withdraw([this, done] {
      context_.transport.set_handlers({});
      done();
    });
  });
}

void StorageNode::on_map() {
  regions_->reconcile();
  seed_receiver_->ask();
  schedule_status();
}

void StorageNode::keep_time() {
  scheduler_.post_after(options_.status_interval, [this] {
    if (stopped_) return;
    regions_->for_each([](RegionReplica& it) {
      it.check_room();
      it.sample();
    });
    seed_receiver_->ask();
    schedule_status();
    save_checkpoints_if_due();
    sample_metrics();
    keep_time();
  });
}

void StorageNode::save_checkpoints_if_due() {
  if (scheduler_.now().value - save_begun_at_.value < options_.checkpoint_interval.value) return;
  save_begun_at_ = scheduler_.now();
  regions_->save([this, guard = scheduler_.token()](const Status& saved) {
    if (!guard.expired() && saved.ok()) saved_at_ = scheduler_.now();
  });
}

void StorageNode::sample_metrics() {
  NodeMetrics::Sample sample;
  regions_->for_each([&sample](const RegionReplica& it) {
    ++(it.owning() ? sample.regions_owned : sample.regions_standby);
    if (!it.owning()) return;
    Lag lag = it.lag();
    sample.lag_records = std::max(sample.lag_records, lag.records);
    sample.lag_micros = std::max(sample.lag_micros, lag.micros);
    RegionQueues::Figures queues = it.queue_figures().value_or(RegionQueues::Figures{});
    sample.queues += queues.queues;
    sample.window_bytes += queues.window_bytes;
    sample.lanes_waiting += queues.lanes_waiting;
  });
  sample.checkpoint_age = Micros{scheduler_.now().value - saved_at_.value};
  metrics_.sample(sample);
}

// ---- messages ----------------------------------------------------------------------------------------

void StorageNode::on_message(const Address& from, const MessagePtr& message) {
  if (stopped_) return;
  if (!dispatch(from, *message)) {
    auto reply = std::make_shared<pb::Message>();
    reply->set_request(message->request());
    reply->mutable_refusal()->set_code(pb::MALFORMED);
    reply->mutable_refusal()->set_message("a storage node does not know this message");
    context_.transport.send(from, std::move(reply));
  }
}

bool StorageNode::dispatch(const Address& from, const pb::Message& message) {
  switch (message.body_case()) {
    case pb::Message::kOpenSession:
      to_region(from, message, RegionId{message.open_session().region()});
      break;
    case pb::Message::kWrite: on_write(from, message); break;
    case pb::Message::kHoldWrites: on_hold_writes(from, message); break;
    case pb::Message::kGet: to_region(from, message, RegionId{message.get().region()}); break;
    case pb::Message::kScan: to_region(from, message, RegionId{message.scan().region()}); break;
    case pb::Message::kWait: to_region(from, message, RegionId{message.wait().region()}); break;
    case pb::Message::kPositions: to_region(from, message, RegionId{message.positions().region()}); break;
    case pb::Message::kCommittedRequest:
      to_region(from, message, RegionId{message.committed_request().region()});
      break;
    case pb::Message::kCommitted: to_region(from, message, RegionId{message.committed().region()}); break;
    case pb::Message::kQueueCredit:
      to_region(from, message, RegionId{message.queue_credit().region()});
      break;
    case pb::Message::kQueueClose: to_region(from, message, RegionId{message.queue_close().region()}); break;
    case pb::Message::kEffects: to_region_of(from, message, ShardId{message.effects().part().begin()}); break;
    case pb::Message::kCommittedPositions: {
      auto lanes = from_pb(message.committed_positions().recorded(), options_.shards);
      RegionReplica* asker = regions_->find(RegionId{message.request()});
      if (lanes.ok() && asker != nullptr) asker->on_committed_positions(*lanes);
      break;
    }
    case pb::Message::kCheckpointAck: seed_sender_->on_ack(from, message.checkpoint_ack()); break;
    case pb::Message::kCheckpointChunk: seed_receiver_->on_chunk(from, message.checkpoint_chunk()); break;
    case pb::Message::kLookAgain:
      view_->look_again();
      schedule_status();
      break;
    case pb::Message::kRefusal: break;  // Of something sent to a node that has changed: asked again later.
    default: return false;
  }
  return true;
}

void StorageNode::to_region(const Address& from, const pb::Message& message, RegionId region) {
  RegionReplica* replica = regions_->find(region);
  if (replica == nullptr) return refuse(from, message, view_->region(region));
  replica->on_message(from, message);
}

void StorageNode::to_region_of(const Address& from, const pb::Message& message, ShardId shard) {
  RegionReplica* replica = regions_->find_by_shard(shard);
  if (replica == nullptr) return refuse(from, message, view_->region_of(shard));
  replica->on_message(from, message);
}

void StorageNode::on_write(const Address& from, const pb::Message& message) {
  if (scheduler_.now() >= writes_held_until_)
    return to_region(from, message, RegionId{message.write().region()});
  auto reply = std::make_shared<pb::Message>();
  reply->set_request(message.request());
  reply->mutable_refusal()->set_code(pb::OVERLOADED);
  reply->mutable_refusal()->set_message("client writes are held for a moment");
  metrics_.on_answer(*reply);
  context_.transport.send(from, std::move(reply));
}

// Whoever asked may die: what ends it is the time.
void StorageNode::on_hold_writes(const Address& from, const pb::Message& message) {
  const int64_t micros = std::clamp<int64_t>(message.hold_writes().micros(), 0, kHoldWritesMax.value);
  writes_held_until_ = Micros{scheduler_.now().value + micros};
  options_.say(micros > 0 ? "client writes are held for " + std::to_string(micros / 1000) + " ms"
                          : "client writes are no longer held");
  auto reply = std::make_shared<pb::Message>();
  reply->set_request(message.request());
  reply->mutable_writes_held();
  context_.transport.send(from, std::move(reply));
}

// Who asked without wanting an answer gets none.
void StorageNode::refuse(const Address& from, const pb::Message& message, const pb::RegionEntry* entry) {
  if (message.request() == 0) return;
  auto reply = std::make_shared<pb::Message>();
  reply->set_request(message.request());
  pb::Refusal& refusal = *reply->mutable_refusal();
  bool is_ours = entry != nullptr && entry->owner() == options_.name;
  refusal.set_code(is_ours ? pb::OPENING : pb::NOT_OWNER);
  refusal.set_map_version(view_->map().version());
  if (entry != nullptr) {
    refusal.set_region(entry->region());
    refusal.set_owner(entry->owner());
  }
  metrics_.on_answer(*reply);
  context_.transport.send(from, std::move(reply));
}

void StorageNode::on_disconnect(const Address& peer) {
  seed_sender_->on_disconnect(peer);
  regions_->for_each([&](RegionReplica& it) { it.on_disconnect(peer); });
}

// ---- asking and telling ------------------------------------------------------------------------------

void StorageNode::ask_committed(RegionId asker, const AskCommitted& ask) {
  std::map<uint64_t, std::shared_ptr<pb::Message>> questions;
  for (const pb::RegionEntry& entry : view_->map().regions()) {
    if (entry.sealed()) continue;
    ShardRange shards = from_pb(entry.shards());
    std::vector<LaneRun> lanes;
    for (const LaneRun& run : ask.wanted) {
      ShardRange both{std::max(run.lanes.begin, shards.begin), std::min(run.lanes.end, shards.end)};
      if (!both.empty()) lanes.push_back({both, run.position});
    }
    Address owner = view_->address_of(entry.owner());
    if (lanes.empty() || owner.value.empty()) continue;
    auto message = std::make_shared<pb::Message>();
    message->set_request(asker.value);
    message->mutable_committed_request()->set_region(entry.region());
    to_pb(lanes, *message->mutable_committed_request()->mutable_wanted());
    context_.transport.send(owner, std::move(message));
  }
}

void StorageNode::schedule_status() {
  if (std::exchange(status_posted_, true)) return;
  scheduler_.post([this] {
    status_posted_ = false;
    tell_status();
  });
}

void StorageNode::tell_status() {
  if (stopped_ || view_->coordinator().value.empty()) return;
  if (TM_BUGGIFY("node: a checkpoint before it is due")) regions_->request_save();
  for (pb::RegionStatus& status : regions_->statuses()) {
    auto message = std::make_shared<pb::Message>();
    *message->mutable_region_status() = std::move(status);
    context_.transport.send(view_->coordinator(), std::move(message));
  }
}

}  // namespace tidemark
