#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <condition_variable>
#include <mutex>

#include "base/bytes.h"
#include "net/frame.h"
#include "net/local_network.h"
#include "net/tcp_transport.h"
#include "proto/messages.pb.h"

namespace tidemark {
namespace {

constexpr auto kDeadline = std::chrono::seconds(20);

MessagePtr numbered(uint64_t number, size_t padding = 0) {
  auto message = std::make_shared<pb::Message>();
  message->set_request(number);
  message->mutable_rows()->set_rows(std::string(padding, 'x'));
  return message;
}

// What one end has received; waits by condition.
class Inbox {
 public:
  Transport::Handlers handlers() {
    return {[this](const Address& from, MessagePtr message) {
              std::lock_guard lock(mutex_);
              numbers_.push_back(message->request());
              last_from_ = from;
              changed_.notify_all();
            },
            [this](const Address& peer) {
              std::lock_guard lock(mutex_);
              gone_.push_back(peer);
              changed_.notify_all();
            }};
  }
  bool wait_for_count(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return numbers_.size() >= count; });
  }
  bool wait_for_disconnects(size_t count = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return gone_.size() >= count; });
  }
  std::vector<uint64_t> numbers() {
    std::lock_guard lock(mutex_);
    return numbers_;
  }
  Address last_from() {
    std::lock_guard lock(mutex_);
    return last_from_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<uint64_t> numbers_;
  std::vector<Address> gone_;
  Address last_from_;
};

// The name server of this test, which knows two names and does not answer for one of them while it is silent.
class NameServer {
 public:
  static NameServer& instance() {
    static NameServer server;
    return server;
  }
  void set_silent(bool silent) {
    std::lock_guard lock(mutex_);
    silent_ = silent;
    asked_ = 0;
    changed_.notify_all();
  }
  int asked_in_vain() {
    std::lock_guard lock(mutex_);
    return asked_;
  }
  // What to ask the system for instead; empty: there is no such name.
  const char* answer(const char* host) {
    if (host == nullptr) return host;
    if (std::string_view(host) == "answered.test") return "127.0.0.1";
    if (std::string_view(host) != "unanswered.test") return host;
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.wait(lock, [this] { return !silent_; });
    return "";
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool silent_ = false;
  int asked_ = 0;
};

class SilentNameServer {
 public:
  SilentNameServer() { NameServer::instance().set_silent(true); }
  ~SilentNameServer() { NameServer::instance().set_silent(false); }
};

// A TCP transport on a loop of its own, ended in the right order.
class Peer {
 public:
  explicit Peer(TcpOptions options) : loop_("peer") {
    auto started = TcpTransport::start(loop_, std::move(options));
    transport_ = std::move(started).value();
    loop_.run([&] { transport_->set_handlers(inbox.handlers()); });
  }
  ~Peer() {
    loop_.run([&] { transport_.reset(); });
    loop_.stop();
  }
  void send(const Address& to, MessagePtr message) {
    loop_.post([this, to, message = std::move(message)] { transport_->send(to, message); });
  }
  Address address() const { return transport_->address(); }

  Inbox inbox;

 private:
  AsioLoop loop_;
  std::unique_ptr<TcpTransport> transport_;
};

TcpOptions listening(std::string name = "a", uint64_t cluster = 1) {
  TcpOptions options;
  options.name = std::move(name);
  options.cluster = cluster;
  options.listen = Address{"127.0.0.1:0"};
  return options;
}

TEST(TcpTransport, MessagesArriveInOrderAndAreAnswered) {
  Peer a(listening("a")), b(listening("b"));
  for (uint64_t i = 0; i < 500; ++i) a.send(b.address(), numbered(i, i * 7));
  ASSERT_TRUE(b.inbox.wait_for_count(500));
  for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(b.inbox.numbers()[i], i);

  b.send(b.inbox.last_from(), numbered(7));  // Over the incoming connection.
  ASSERT_TRUE(a.inbox.wait_for_count(1));
  EXPECT_EQ(a.inbox.last_from(), b.address());
}

TEST(TcpTransport, ANameThatNoServerAnswersForHoldsUpNoOther) {
  Peer b(listening("b"));
  TcpOptions impatient = listening("a");
  impatient.connect_timeout = Micros{1000};
  Peer a(impatient), c(listening("c"));
  const std::string port = b.address().value.substr(b.address().value.rfind(':'));
  SilentNameServer silent;
  c.send(Address{"unanswered.test:1"}, numbered(1));
  c.send(Address{"answered.test" + port}, numbered(2));
  EXPECT_TRUE(b.inbox.wait_for_count(1));
  c.send(b.address(), numbered(3));
  EXPECT_TRUE(b.inbox.wait_for_count(2));
  // Asked for again and again, it is looked up once.
  for (size_t i = 1; i <= 20; ++i) {
    a.send(Address{"unanswered.test:1"}, numbered(4));
    ASSERT_TRUE(a.inbox.wait_for_disconnects(i));
  }
  EXPECT_LE(NameServer::instance().asked_in_vain(), 2);
}

int option_of(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket, level, name, &value, &size), 0);
  return value;
}

// A host without power can not be had here: that the system is asked to look for it must do.
TEST(TcpTransport, BothEndsLookForAPeerThatHasVanished) {
  Peer a(listening("a")), b(listening("b"));
  a.send(b.address(), numbered(1));
  ASSERT_TRUE(b.inbox.wait_for_count(1));
  int ends = 0;
  for (int file = 0; file < 256; ++file) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(file, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family != AF_INET) continue;
    ++ends;
    EXPECT_EQ(option_of(file, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_LE(option_of(file, IPPROTO_TCP, TCP_KEEPIDLE), 60);
    EXPECT_EQ(option_of(file, IPPROTO_TCP, TCP_USER_TIMEOUT), 60'000);
  }
  EXPECT_EQ(ends, 2);
}

TEST(TcpTransport, TellsOfALostPeerAndReconnectsOnDemand) {
  Peer a(listening("a"));
  auto b = std::make_unique<Peer>(listening("b"));
  Address where = b->address();
  a.send(where, numbered(1));
  ASSERT_TRUE(b->inbox.wait_for_count(1));
  b.reset();
  ASSERT_TRUE(a.inbox.wait_for_disconnects());

  TcpOptions again = listening("b");
  again.listen = where;
  b = std::make_unique<Peer>(again);
  a.send(where, numbered(2));
  EXPECT_TRUE(b->inbox.wait_for_count(1));
}

TEST(TcpTransport, TellsOfAPeerThatCanNotBeReached) {
  Peer a(listening("a"));
  Address nobody;
  { nobody = Peer(listening("b")).address(); }
  a.send(nobody, numbered(1));
  EXPECT_TRUE(a.inbox.wait_for_disconnects());
}

TEST(TcpTransport, RefusesAnotherCluster) {
  Peer a(listening("a", 1)), b(listening("b", 2));
  a.send(b.address(), numbered(1));
  EXPECT_TRUE(a.inbox.wait_for_disconnects());
  EXPECT_TRUE(b.inbox.numbers().empty());
}

TEST(TcpTransport, RefusesAnAddressInUseWithItsName) {
  Peer a(listening());
  AsioLoop loop("other");
  TcpOptions same = listening();
  same.listen = a.address();
  auto second = TcpTransport::start(loop, same);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find(a.address().value), std::string::npos);
}

// A raw client that sends what it likes.
class RawClient {
 public:
  explicit RawClient(const Address& to) : socket_(context_) {
    auto port = static_cast<uint16_t>(std::stoi(to.value.substr(to.value.rfind(':') + 1)));
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
  }
  void send(std::string_view bytes) {
    asio::error_code ignored;  // It may be closed on us in the middle.
    asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), ignored);
  }
  // Reads until the other end closes.
  bool closed_by_peer() {
    asio::error_code error;
    std::array<char, 4096> sink;
    while (!error) socket_.read_some(asio::buffer(sink), error);
    return error == asio::error::eof || error == asio::error::connection_reset;
  }

 private:
  asio::io_context context_;
  asio::ip::tcp::socket socket_;
};

std::string hello_frame() {
  pb::Message hello;
  hello.mutable_hello()->set_major(kProtocolMajor);
  std::string out;
  EXPECT_TRUE(append_frame(out, hello));
  return out;
}

TEST(TcpTransport, ClosesOnGarbageAndGoesOnServing) {
  Peer a(listening("a"));
  std::string huge, giant_after_hello = hello_frame(), no_message = hello_frame();
  put_fixed32(huge, 0x7fffffff);
  put_fixed32(giant_after_hello, kFrameBytesMax + 1);
  put_fixed32(no_message, 3);
  no_message += "\xff\xff\xff";
  std::string no_hello;
  EXPECT_TRUE(append_frame(no_hello, *numbered(1)));
  for (const std::string& bytes : {huge, giant_after_hello, no_message, no_hello, std::string(100000, '\xee'),
                                   hello_frame() + hello_frame()}) {
    RawClient raw(a.address());
    raw.send(bytes);
    EXPECT_TRUE(raw.closed_by_peer());
  }
  EXPECT_TRUE(a.inbox.numbers().empty());
  Peer b(listening("b"));
  b.send(a.address(), numbered(5));
  EXPECT_TRUE(a.inbox.wait_for_count(1));
}

TEST(TcpTransport, TellsWhyItClosedButNotEachTime) {
  std::mutex mutex;
  std::vector<std::string> told;
  TcpOptions options = listening("a");
  options.notice_interval = Micros{600'000'000};
  options.notice = [&](const std::string& what) {
    std::lock_guard lock(mutex);
    told.push_back(what);
  };
  Peer a(options);
  std::string huge;
  put_fixed32(huge, 0x7fffffff);
  for (int i = 0; i < 3; ++i) {
    RawClient raw(a.address());
    raw.send(huge);
    EXPECT_TRUE(raw.closed_by_peer());
  }
  std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].find("closed a connection with 127.0.0.1:"), 0u) << told[0];
  EXPECT_NE(told[0].find("a frame of 2147483647 bytes"), std::string::npos) << told[0];
}

TEST(TcpTransport, ClosesAConnectionThatNeverSaysHello) {
  TcpOptions options = listening("a");
  options.handshake_timeout = Micros{50'000};
  Peer a(options);
  EXPECT_TRUE(RawClient(a.address()).closed_by_peer());
}

TEST(TcpTransport, DropsWhatGoesBeyondTheBoundOfAPeer) {
  TcpOptions options = listening("a");
  options.unsent_bytes_max = 100'000;
  Peer a(options), b(listening("b"));
  // Before the connection stands nothing can leave: at most bound + one message is kept.
  AsioLoop loop("sender");
  options.listen = Address{};
  auto sender = TcpTransport::start(loop, options);
  ASSERT_TRUE(sender.ok());
  size_t unsent = 0;
  loop.run([&] {
    for (uint64_t i = 0; i < 1000; ++i) (*sender)->send(b.address(), numbered(i, 10'000));
    unsent = (*sender)->unsent_bytes(b.address());
  });
  EXPECT_LE(unsent, 100'000u + 10'100u);
  EXPECT_GT(unsent, 90'000u);
  loop.run([&] { sender->reset(); });
}

TEST(TcpTransport, DropsAMessageThatNoFrameHoldsTellsOfItAndGoesOn) {
  std::mutex mutex;
  std::vector<std::string> told;
  TcpOptions options = listening("a");
  options.notice = [&](const std::string& what) {
    std::lock_guard lock(mutex);
    told.push_back(what);
  };
  Peer a(options), b(listening("b"));
  a.send(b.address(), numbered(1, 10));
  a.send(b.address(), numbered(2, kFrameBytesMax));
  a.send(b.address(), numbered(3, 10));
  ASSERT_TRUE(b.inbox.wait_for_count(2));
  EXPECT_EQ(b.inbox.numbers(), (std::vector<uint64_t>{1, 3}));
  std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].find("dropped a message of kind rows and 83886"), 0u) << told[0];
}

TEST(FrameParser, GivesTheSameMessagesHoweverTheBytesAreCut) {
  std::string bytes;
  for (uint64_t i = 1; i <= 20; ++i) EXPECT_TRUE(append_frame(bytes, *numbered(i, i)));
  for (size_t piece = 1; piece < 60; ++piece) {
    FrameParser parser;
    std::vector<uint64_t> numbers;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      parser.feed(std::string_view(bytes).substr(at, piece));
      for (;;) {
        auto next = parser.next();
        ASSERT_TRUE(next.ok());
        if (!*next) break;
        numbers.push_back((*next)->request());
      }
    }
    ASSERT_EQ(numbers.size(), 20u);
    for (uint64_t i = 0; i < 20; ++i) ASSERT_EQ(numbers[i], i + 1);
  }
}

TEST(LocalNetwork, DeliversInOrderAndTellsOfTheGone) {
  LocalNetwork network;
  AsioLoop loop_a("a"), loop_b("b");
  Inbox inbox_a, inbox_b;
  auto a = network.connect(Address{"a"}, loop_a);
  auto b = network.connect(Address{"b"}, loop_b);
  loop_a.run([&] { a->set_handlers(inbox_a.handlers()); });
  loop_b.run([&] { b->set_handlers(inbox_b.handlers()); });
  loop_a.run([&] {
    for (uint64_t i = 0; i < 100; ++i) a->send(Address{"b"}, numbered(i));
  });
  ASSERT_TRUE(inbox_b.wait_for_count(100));
  for (uint64_t i = 0; i < 100; ++i) ASSERT_EQ(inbox_b.numbers()[i], i);
  EXPECT_EQ(inbox_b.last_from(), Address{"a"});
  loop_b.run([&] { b.reset(); });
  EXPECT_TRUE(inbox_a.wait_for_disconnects());
  loop_a.run([&] { a.reset(); });
}

TEST(LocalNetwork, WhoeverSendsToItselfCanGo) {
  LocalNetwork network;
  AsioLoop loop("loop");
  for (int round = 0; round < 100; ++round) {
    Inbox a_inbox, z_inbox;
    loop.run([&] {
      auto a = network.connect(Address{"a"}, loop);
      auto m = network.connect(Address{"m"}, loop);
      auto z = network.connect(Address{"z"}, loop);
      a->set_handlers(a_inbox.handlers());
      z->set_handlers(z_inbox.handlers());
      for (const char* to : {"a", "m", "z"}) m->send(Address{to}, numbered(1));
      m.reset();
      a.reset();
      z.reset();
    });
  }
}

}  // namespace
}  // namespace tidemark

// In the place of the C library's, for all that is linked into this program.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  static auto* real = reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool asks_server = hints == nullptr || (hints->ai_flags & AI_NUMERICHOST) == 0;
  if (!asks_server) return real(host, service, hints, found);
  const char* answer = tidemark::NameServer::instance().answer(host);
  return answer != nullptr && *answer == '\0' ? EAI_NONAME : real(answer, service, hints, found);
}
