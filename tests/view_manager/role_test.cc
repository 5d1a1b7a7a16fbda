// The role against facts and a node that the test plays.
#include <gtest/gtest.h>

#include <deque>

#include "coordinator/cluster_fact.h"
#include "coordinator/facts.h"
#include "coordinator/memory_coordination.h"
#include "proto/catalog.pb.h"
#include "proto/convert.h"
#include "sql/plan/catalog_plans.h"
#include "sql/types/text_format.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/virtual_scheduler.h"
#include "tests/view_manager/flow_world.h"
#include "view_manager/view_manager.h"

namespace tidemark {
namespace {

constexpr ShardCount kShards{16};

class RoleTest : public ::testing::Test {
 protected:
  RoleTest()
      : tree_(scheduler_),
        coordination_(tree_, scheduler_, Random(1)),
        network_(scheduler_, Random(2)),
        node_(network_.connect({"node:1"}, scheduler_)),
        transport_(network_.connect({"vm:1"}, scheduler_)),
        context_{scheduler_, *transport_, coordination_, random_} {
    node_->set_handlers({[this](const Address& from, MessagePtr message) {
                           received_.push_back({from, message});
                         },
                         [](const Address&) {}});
  }

  void write(const char* path, const google::protobuf::MessageLite& fact) {
    bool done = false;
    write_facts(coordination_, {{path, fact.SerializeAsString(), std::nullopt}}, ++nonce_, {},
                [&](Result<void, CoordinationError> result) { done = result.ok(); });
    ASSERT_TRUE(scheduler_.run_while_not([&] { return done; }));
  }

  // The next message of the kind to the node. Null: none comes.
  MessagePtr next(pb::Message::BodyCase kind) {
    auto found = [&] {
      while (!received_.empty() && received_.front().second->body_case() != kind) received_.pop_front();
      return !received_.empty();
    };
    if (!scheduler_.run_while_not(found)) return nullptr;
    MessagePtr out = received_.front().second;
    received_.pop_front();
    return out;
  }

  VirtualScheduler scheduler_;
  CoordinationTree tree_;
  MemoryCoordination coordination_;
  SimNetwork network_;
  std::unique_ptr<Transport> node_, transport_;
  Random random_{3};
  ProcessContext context_;
  std::deque<std::pair<Address, MessagePtr>> received_;
  uint64_t nonce_ = 0;
};

// A node may have read the ring first. It would open the queue again, but only half a second later.
TEST_F(RoleTest, AQueueThatIsOpenedBeforeTheRingIsReadIsTakenOnceItIs) {
  bool ready = false;
  pb::ClusterFact wanted;
  wanted.set_shards(kShards.value);
  find_cluster(coordination_, scheduler_, random_, wanted, [&](const pb::ClusterFact&) { ready = true; });
  ASSERT_TRUE(scheduler_.run_while_not([&] { return ready; }));
  ViewManagerOptions options;
  options.self.set_name("vm");
  options.self.set_address("vm:1");
  options.shards = kShards;
  ViewManager view_manager(context_, options);
  bool opened = false;
  transport_->set_handlers(
      {[&](const Address& from, MessagePtr message) { opened = view_manager.on_message(from, message); },
       [](const Address&) {}});
  view_manager.start();
  auto open = std::make_shared<pb::Message>();
  open->mutable_queue_open()->set_region(7);
  open->mutable_queue_open()->set_epoch(1);
  open->mutable_queue_open()->set_identity("vm");
  *open->mutable_queue_open()->mutable_shards() = to_pb(kShards.all());
  to_pb({{kShards.all(), {}}}, *open->mutable_queue_open()->mutable_lanes());
  node_->send({"vm:1"}, open);
  ASSERT_TRUE(scheduler_.run_while_not([&] { return opened; }));
  ASSERT_EQ(view_manager.core(), nullptr);

  pb::RingFact ring;
  ring.mutable_ring()->set_version(1);
  ring.mutable_ring()->add_members("vm");
  *ring.mutable_ring()->add_slices()->mutable_shards() = to_pb(kShards.all());
  write(paths::kRing, ring);
  MessagePtr credit = next(pb::Message::kQueueCredit);
  ASSERT_NE(credit, nullptr);
  EXPECT_EQ(credit->queue_credit().epoch(), 1u);
  EXPECT_GT(credit->queue_credit().bytes(), 0u);
}

TEST_F(RoleTest, RegistersFollowsTheFactsAndBringsAChangeToItsView) {
  bool ready = false;
  pb::ClusterFact wanted;
  wanted.set_shards(kShards.value);
  find_cluster(coordination_, scheduler_, random_, wanted, [&](const pb::ClusterFact&) { ready = true; });
  ASSERT_TRUE(scheduler_.run_while_not([&] { return ready; }));

  FlowWorld world;  // Makes the catalog.
  world.create_table("orders", {{"id", "bigint"}, {"customer", "integer"}});
  ASSERT_EQ(world.create_view("create materialized view v as select customer, count(*) as n from orders "
                              "group by customer"),
            "");
  write(paths::kCatalog, world.catalog());
  pb::RegionMap map;
  map.set_version(1);
  pb::RegionEntry& region = *map.add_regions();
  region.set_region(7);
  region.set_owner("node");
  *region.mutable_shards() = to_pb(kShards.all());
  write(paths::kRegionMap, map);
  pb::RingFact ring;
  ring.mutable_ring()->set_version(1);
  ring.mutable_ring()->add_members("vm");
  *ring.mutable_ring()->add_slices()->mutable_shards() = to_pb(kShards.all());
  write(paths::kRing, ring);
  pb::ProcessFact node;
  node.set_name("node");
  node.set_address("node:1");
  bool registered = false;
  coordination_.create("/nodes/node", node.SerializeAsString(), EntryMode::Ephemeral,
                       [&](Result<std::string, CoordinationError> result) { registered = result.ok(); });
  ASSERT_TRUE(scheduler_.run_while_not([&] { return registered; }));

  ViewManagerOptions options;
  options.self.set_name("vm");
  options.self.set_address("vm:1");
  options.shards = kShards;
  ViewManager view_manager(context_, options);
  transport_->set_handlers(
      {[&](const Address& from, MessagePtr message) { view_manager.on_message(from, message); },
       [](const Address&) {}});
  view_manager.start();
  ASSERT_TRUE(scheduler_.run_while_not([&] { return view_manager.core() != nullptr; }));

  auto open = std::make_shared<pb::Message>();
  open->mutable_queue_open()->set_region(7);
  open->mutable_queue_open()->set_epoch(1);
  open->mutable_queue_open()->set_identity("vm");
  *open->mutable_queue_open()->mutable_shards() = to_pb(kShards.all());
  to_pb({{kShards.all(), {}}}, *open->mutable_queue_open()->mutable_lanes());
  node_->send({"vm:1"}, open);
  MessagePtr ask = next(pb::Message::kPositions);
  ASSERT_NE(ask, nullptr);
  EXPECT_EQ(ask->positions().region(), 7u);
  auto where = std::make_shared<pb::Message>();
  where->set_request(ask->request());
  where->mutable_effects_answer()->set_verdict(pb::EffectAnswer::REFUSED);
  *where->mutable_effects_answer()->add_parts()->mutable_shards() = to_pb(kShards.all());
  node_->send({"vm:1"}, where);

  auto records = std::make_shared<pb::Message>();
  records->mutable_queue_records()->set_region(7);
  records->mutable_queue_records()->set_epoch(1);
  records->mutable_queue_records()->set_sequence(1);
  pb::QueueEntry& entry = *records->mutable_queue_records()->add_entries();
  entry.set_catalog_version(world.catalog().version());
  sql::EncodedRow row;
  const sql::Value values[] = {sql::Value::bigint(1), sql::Value::integer(5)};
  const sql::TableCodec& codec = world.store().codec(TableId{world.find("orders")->id()});
  codec.encode(values, row);
  Change change;
  change.table = codec.table();
  change.hash = row.hash;
  change.key = row.key;
  change.after = row.row;
  append_change(*entry.mutable_changes(), change);
  node_->send({"vm:1"}, records);

  MessagePtr batch = next(pb::Message::kEffects);
  ASSERT_NE(batch, nullptr);
  EffectReader reader(batch->effects().effects());
  Effect effect;
  ASSERT_TRUE(reader.next(effect));
  EXPECT_EQ(effect.table.value, world.find("v")->id());
  EXPECT_EQ(effect.kind, EffectKind::Add);

  // It has moved: the batch is sent again, to whoever is the owner then.
  auto moved = std::make_shared<pb::Message>();
  moved->set_request(batch->request());
  moved->mutable_refusal()->set_code(pb::NOT_OWNER);
  node_->send({"vm:1"}, moved);
  ask = next(pb::Message::kPositions);
  ASSERT_NE(ask, nullptr);
  where = std::make_shared<pb::Message>(*where);
  where->set_request(ask->request());
  node_->send({"vm:1"}, where);
  batch = next(pb::Message::kEffects);
  ASSERT_NE(batch, nullptr);
  auto applied = std::make_shared<pb::Message>();
  applied->set_request(batch->request());
  applied->mutable_effects_answer()->set_verdict(pb::EffectAnswer::APPLIED);
  *applied->mutable_effects_answer()->mutable_part() = batch->effects().part();
  for (const pb::LaneStep& step : batch->effects().lanes()) {
    pb::LaneRun& run = *applied->mutable_effects_answer()->add_to();
    *run.mutable_lanes() = step.lanes();
    *run.mutable_position() = step.to();
  }
  node_->send({"vm:1"}, applied);
  MessagePtr report = next(pb::Message::kCommitted);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(from_pb(report->committed().lanes(0).position()), (Position{Generation{0}, Offset{1}, 0}));

  bool stopped = false;
  view_manager.stop([&] { stopped = true; });
  EXPECT_TRUE(scheduler_.run_while_not([&] { return stopped; }));
}

}  // namespace
}  // namespace tidemark
