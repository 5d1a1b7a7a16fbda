#include "coordinator/zookeeper_coordination.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "net/asio_loop.h"
#include "tests/coordinator/election_contract.h"
#include "tests/servers/zookeeper.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {

namespace {

using servers::ZooKeeperServer;
using servers::ZooKeeperSize;

ZooKeeperServer& one_server() {
  static ZooKeeperServer server;
  return server;
}

// Connects with the session's own name and closes it: the server forgets it at once.
void end_session(const std::string& servers, const ZooKeeperCoordination::Credentials& credentials) {
  clientid_t id{};
  id.client_id = credentials.session;
  std::memcpy(id.passwd, credentials.password.data(), sizeof id.passwd);
  std::atomic<bool> answered = false;
  auto* handle = zookeeper_init(
      servers.c_str(),
      [](zhandle_t*, int, int state, const char*, void* flag) {
        // Expired: it has ended already.
        if (state == ZOO_CONNECTED_STATE || state == ZOO_EXPIRED_SESSION_STATE)
          *static_cast<std::atomic<bool>*>(flag) = true;
      },
      6000, &id, &answered, 0);
  ASSERT_NE(handle, nullptr);
  servers::wait_until("the session is taken over", [&] { return answered.load(); });
  zookeeper_close(handle);
}

class ZooKeeperBed : public CoordinationBed {
 public:
  explicit ZooKeeperBed(ZooKeeperServer& server, std::string digest = "")
      : server_(server), digest_(std::move(digest)), root_("/test/" + std::to_string(next_root_++)) {}
  ~ZooKeeperBed() override {
    loop_.run([&] { sessions_.clear(); });
    loop_.stop();
  }

  Scheduler& scheduler() override { return loop_; }
  ZooKeeperCoordination& open() override {
    loop_.run([&] {
      sessions_.push_back(std::make_unique<ZooKeeperCoordination>(
          loop_, ZooKeeperOptions{server_.connect_string(), root_, digest_, Micros{4'000'000}}));
    });
    ZooKeeperCoordination& session = *sessions_.back();
    auto connected = std::make_shared<bool>(false);
    loop_.run([&] {
      session.on_session([count = &expired_[&session], connected](SessionState state) {
        if (state == SessionState::Expired) ++*count;
        *connected = state == SessionState::Connected;
      });
    });
    wait([connected] { return *connected; });  // Until then a multi of several parts fails.
    return session;
  }
  void close(Coordination& session) override {
    loop_.run([&] { std::erase_if(sessions_, [&](const auto& mine) { return mine.get() == &session; }); });
  }
  void expire(Coordination& session) override {
    auto& mine = static_cast<ZooKeeperCoordination&>(session);
    int before = 0;
    loop_.run([&] { before = expired_[&session]; });
    // The client may take its session back before the end of it arrives: then it is tried again.
    do {
      ZooKeeperCoordination::Credentials credentials;
      wait([&] {
        credentials = mine.credentials();
        return credentials.session != 0;
      });
      end_session(server_.connect_string(), credentials);
    } while (!wait_for([&] { return expired_[&session] > before; }, std::chrono::seconds(2)));
  }
  void run(std::function<void()> task) override { loop_.run(std::move(task)); }
  bool wait(std::function<bool()> holds) override {
    return wait_for(std::move(holds), std::chrono::seconds(60));
  }
  bool wait_for(std::function<bool()> holds, std::chrono::seconds limit) {
    auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < deadline) {
      bool now = false;
      loop_.run([&] { now = holds(); });
      if (now) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  void use_root_of(const ZooKeeperBed& other) { root_ = other.root_; }

 private:
  static inline int next_root_ = 0;
  ZooKeeperServer& server_;
  const std::string digest_;
  std::string root_;
  AsioLoop loop_{"test"};
  std::vector<std::unique_ptr<ZooKeeperCoordination>> sessions_;
  std::map<const Coordination*, int> expired_;  // How often.
};

std::unique_ptr<CoordinationBed> on_one_server() {
  return std::make_unique<ZooKeeperBed>(one_server());
}

INSTANTIATE_TEST_SUITE_P(OneServer, CoordinationContract, testing::Values(on_one_server));
INSTANTIATE_TEST_SUITE_P(OneServer, ElectionContract, testing::Values(on_one_server));

TEST(ZooKeeperCoordination, EntriesMadeWithADigestAreClosedToOthers) {
  ZooKeeperBed owner(one_server(), "tide:secret");
  ZooKeeperBed stranger(one_server());
  stranger.use_root_of(owner);
  Coordination& a = owner.open();
  ASSERT_TRUE(owner.create(a, "/x", "ours").ok());  // The root is there, and the owner's.
  Coordination& b = stranger.open();
  EXPECT_EQ(stranger.get(b, "/x").error(), CoordinationError::Refused);
  EXPECT_EQ(stranger.multi(b, {set_op("/x", "theirs")}).error(), CoordinationError::Refused);
  EXPECT_EQ(stranger.multi(b, {remove_op("/x")}).error(), CoordinationError::Refused);
  EXPECT_EQ(stranger.create(b, "/y", "theirs").error(), CoordinationError::Refused);
  EXPECT_EQ(owner.get(a, "/x")->data, "ours");
}

// Opens sessions and hangs up at the first request; it knows no session that comes back. A real server can
// not be made to forget hundreds of sessions a second.
class ForgetfulServer {
 public:
  ForgetfulServer() : thread_([this] { serve(); }) {}
  ~ForgetfulServer() {
    stopping_ = true;
    asio::io_context context;
    asio::ip::tcp::socket(context).connect(acceptor_.local_endpoint());
    thread_.join();
  }
  std::string connect_string() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  void serve() {
    while (!stopping_) {
      asio::ip::tcp::socket socket = acceptor_.accept();
      asio::error_code error;
      std::array<uint8_t, 4 + 44> opening{};  // Length, version, zxid, timeout, session, password, ...
      asio::read(socket, asio::buffer(opening), asio::transfer_at_least(opening.size()), error);
      bool is_new = std::all_of(opening.begin() + 20, opening.begin() + 28, [](uint8_t b) { return b == 0; });
      std::array<uint8_t, 4 + 37> answer{};  // Length, version, timeout, session, password, read-only.
      answer[3] = 37;
      answer[10] = 4'000 >> 8;
      answer[19] = is_new ? 1 : 0;
      answer[23] = 16;
      asio::write(socket, asio::buffer(answer), error);
      std::array<uint8_t, 1> request{};
      asio::read(socket, asio::buffer(request), error);
    }
  }

  std::atomic<bool> stopping_ = false;
  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;
};

// A client that is closed forgets the calls whose end comes while its threads stop. Whoever waits for one of
// them would wait for good.
TEST(ZooKeeperCoordination, EveryCallIsAnsweredThoughItsSessionIsReplaced) {
  ForgetfulServer server;
  AsioLoop loop("test");
  std::unique_ptr<ZooKeeperCoordination> session;
  int asked = 0;
  int answered = 0;
  int replaced = 0;
  loop.run([&] {
    session = std::make_unique<ZooKeeperCoordination>(
        loop, ZooKeeperOptions{server.connect_string(), "", "", Micros{4'000'000}});
    session->on_session([&](SessionState state) {
      if (state == SessionState::Expired && ++replaced < 300) session->new_session();
      for (int i = 0; i < 20; ++i, ++asked) session->get("/x", nullptr, [&](auto) { ++answered; });
      for (int i = 0; i < 5; ++i, ++asked)
        session->multi({check_op("/x"), set_op("/y", "1")}, [&](auto) { ++answered; });
    });
  });
  auto holds = [&](auto condition) {
    bool now = false;
    loop.run([&] { now = condition(); });
    return now;
  };
  servers::wait_until("sessions are replaced", [&] { return holds([&] { return replaced == 300; }); });
  servers::wait_until("every call is answered", [&] { return holds([&] { return answered == asked; }); });
  loop.run([&] { session.reset(); });
  loop.stop();
}

// The client begins a multi part by part, and frees what is not its own if the session ends in between.
TEST(ZooKeeperCoordination, AMultiIsNotBegunWhileTheSessionIsBeingOpened) {
  asio::io_context context;
  const asio::ip::tcp::acceptor silent(context, {asio::ip::address_v4::loopback(), 0});
  const std::string servers = "127.0.0.1:" + std::to_string(silent.local_endpoint().port());
  AsioLoop loop("test");
  std::unique_ptr<ZooKeeperCoordination> session;
  std::atomic<bool> answered = false;
  loop.run([&] {
    ZooKeeperOptions patient{servers, "", "", Micros{1'000'000'000}};
    session = std::make_unique<ZooKeeperCoordination>(loop, patient);
    session->multi({set_op("/x", "1"), set_op("/y", "1")}, [&](auto result) {
      EXPECT_EQ(result.error(), CoordinationError::Disconnected);
      answered = true;
    });
  });
  servers::wait_until("it is answered", [&] { return answered.load(); });
  loop.run([&] { session.reset(); });
  loop.stop();
}

// Whoever needs a session asks for it: were the answer another failure at once, they would ask for ever, each
// time for as many as they are.
TEST(ZooKeeperCoordination, ServersWhoseNamesDoNotResolveAreTriedNowAndThen) {
  VirtualScheduler loop;
  const std::string too_long_for_a_name(64, 'x');
  ZooKeeperOptions options{too_long_for_a_name + ":2181", "/test", "", Micros{4'000'000}};
  auto session = std::make_unique<ZooKeeperCoordination>(loop, options);
  std::set<SessionState> seen;
  for (int i = 0; i < 3; ++i) {
    session->on_session([&](SessionState state) {
      seen.insert(state);
      if (state == SessionState::Expired) session->new_session();
    });
  }
  while (loop.now() < Micros{10'000'000} && loop.steps() < 1'000) ASSERT_TRUE(loop.run_one());
  ASSERT_GE(loop.now(), Micros{10'000'000}) << "there is no end of attempts";
  EXPECT_EQ(seen, std::set{SessionState::Connecting});

  std::vector<CoordinationError> answers;
  session->get("/x", nullptr, [&](auto result) { answers.push_back(result.error()); });
  session->multi({set_op("/x", "1"), set_op("/y", "1")},
                 [&](auto result) { answers.push_back(result.error()); });
  loop.run_until(loop.now());
  EXPECT_EQ(answers, std::vector(2, CoordinationError::Disconnected));
  session.reset();
  loop.run();  // Comes to its end.
}

// Writes go on through the death of any one server; an unknown outcome is settled by reading.
TEST(ZooKeeperCoordination, AnEnsembleOutlivesTheLossOfEachServerInTurn) {
  ZooKeeperServer ensemble(ZooKeeperSize::Three);
  ZooKeeperBed bed(ensemble);
  Coordination& a = bed.open();
  ASSERT_TRUE(bed.create(a, "/alive", "", EntryMode::Ephemeral).ok());
  ASSERT_TRUE(bed.create(a, "/x", "0").ok());
  int32_t version = 0;
  auto raise = [&] {
    for (;;) {
      auto result = bed.multi(a, {check_op("/alive"), set_op("/x", std::to_string(version + 1), version)});
      if (result.ok()) break;
      ASSERT_THAT(result.error(),
                  testing::AnyOf(CoordinationError::Disconnected, CoordinationError::BadVersion));
      auto now = bed.get(a, "/x");
      if (now.ok() && now->version == version + 1) break;  // It had happened.
      ASSERT_TRUE(!now.ok() || now->version == version);
    }
    ++version;
  };
  for (size_t victim = 0; victim < ensemble.size(); ++victim) {
    for (int i = 0; i < 20; ++i) raise();
    ensemble.member(victim).kill();
    for (int i = 0; i < 20; ++i) raise();
    ensemble.member(victim).start();
    ensemble.wait_until_ready();
  }
  EXPECT_EQ(bed.get(a, "/x")->data, "120");
  EXPECT_TRUE(bed.get(a, "/alive")->own_ephemeral);  // The session has outlived them all.
}

TEST(ZooKeeperCoordination, WithoutAMajorityNothingIsKnownUntilItReturns) {
  ZooKeeperServer ensemble(ZooKeeperSize::Three);
  ZooKeeperBed bed(ensemble);
  Coordination& a = bed.open();
  ASSERT_TRUE(bed.create(a, "/x", "0").ok());
  auto state = std::make_shared<SessionState>(SessionState::Connecting);
  bed.run([&] { a.on_session([state](SessionState now) { *state = now; }); });
  ensemble.member(0).kill();
  ensemble.member(1).kill();
  EXPECT_TRUE(bed.wait([state] { return *state == SessionState::Suspended; }));
  EXPECT_EQ(bed.multi(a, {set_op("/x", "1")}).error(), CoordinationError::Disconnected);
  ensemble.member(0).start();
  EXPECT_TRUE(
      bed.wait([state] { return *state == SessionState::Connected || *state == SessionState::Expired; }));
  bed.run([&] { a.new_session(); });
  EXPECT_TRUE(bed.wait([state] { return *state == SessionState::Connected; }));
  EXPECT_TRUE(bed.multi(a, {set_op("/x", "1")}).ok());
}

}  // namespace

}  // namespace tidemark
