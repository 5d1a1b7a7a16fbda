#include "net/shared_transport.h"

#include <gtest/gtest.h>

#include "proto/messages.pb.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {
namespace {

TEST(SharedTransport, EachMessageGoesToTheRoleThatTakesItAndDisconnectionsToAll) {
  VirtualScheduler world;
  SimNetwork network(world, Random(1));
  auto peer = network.connect(Address{"peer"}, world);
  auto inner = network.connect(Address{"both"}, world);
  SharedTransport shared(*inner);
  auto admin = shared.facet([](const pb::Message& message) { return message.has_admin(); });
  auto rest = shared.facet([](const pb::Message&) { return true; });
  int admins = 0, others = 0, gone = 0;
  admin->set_handlers({[&](const Address&, MessagePtr) { ++admins; }, [&](const Address&) { ++gone; }});
  rest->set_handlers({[&](const Address& from, MessagePtr) {
                        ++others;
                        rest->send(from, std::make_shared<pb::Message>());
                      },
                      [&](const Address&) { ++gone; }});
  int answers = 0;
  peer->set_handlers({[&](const Address& from, MessagePtr) {
                        ++answers;
                        EXPECT_EQ(from, Address{"both"});
                      },
                      {}});
  auto command = std::make_shared<pb::Message>();
  command->mutable_admin();
  peer->send(Address{"both"}, command);
  peer->send(Address{"both"}, std::make_shared<pb::Message>());
  world.run();
  EXPECT_EQ(admins, 1);
  EXPECT_EQ(others, 1);
  EXPECT_EQ(answers, 1);
  peer.reset();
  world.run();
  EXPECT_EQ(gone, 2);

  admin.reset();  // Its messages go to the next that takes them.
  peer = network.connect(Address{"peer"}, world);
  peer->send(Address{"both"}, command);
  world.run();
  EXPECT_EQ(others, 2);
}

}  // namespace
}  // namespace tidemark
