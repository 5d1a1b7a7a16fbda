#include "server/admin_port.h"

#include <map>

#include "net/tcp_transport.h"

namespace tidemark {

namespace {

// Questions that nobody answered are forgotten when so many are newer: their askers have asked again.
constexpr size_t kWaitingMax = 1024;

}  // namespace

class AdminPort::Impl {
 public:
  Impl(Surroundings& surroundings, std::vector<Address> nodes, Own own)
      : surroundings_(surroundings), nodes_(std::move(nodes)), own_(std::move(own)) {
    TM_ASSERT(!nodes_.empty());
  }

  ~Impl() {
    loop_.run([this] {
      outside_.reset();
      inside_.transport.reset();
    });
    loop_.stop();
  }

  Status start(const Address& listen) {
    Status status;
    loop_.run([&] { status = listen_on(listen); });
    return status;
  }

  const Address& address() const { return outside_->address(); }

 private:
  struct Asker {
    Address address;
    uint64_t request = 0;
  };

  Status listen_on(const Address& listen) {
    TcpOptions options;
    options.name = "admin-port";
    options.listen = listen;
    auto outside = TcpTransport::start(loop_, std::move(options));
    if (!outside.ok()) return outside.error();
    auto inside = surroundings_.connect(loop_, {.name = "admin-port", .cluster = 0, .listen = {}});
    if (!inside.ok()) return inside.error();
    outside_ = std::move(*outside);
    inside_ = std::move(*inside);
    outside_->set_handlers(
        {[this](const Address& from, MessagePtr message) { ask(from, *message); }, [](const Address&) {}});
    inside_.transport->set_handlers(
        {[this](const Address&, MessagePtr message) { answer(*message); }, [](const Address&) {}});
    return {};
  }

  void ask(const Address& from, const pb::Message& message) {
    if (!message.has_admin()) return;  // Nothing else is served here.
    if (auto reply = own_(message.admin())) return send(from, message.request(), std::move(*reply));
    auto question = std::make_shared<pb::Message>(message);
    question->set_request(++asked_);
    waiting_[asked_] = {from, message.request()};
    if (waiting_.size() > kWaitingMax) waiting_.erase(waiting_.begin());
    inside_.transport->send(nodes_[asked_ % nodes_.size()], std::move(question));
  }

  void answer(const pb::Message& message) {
    auto asker = waiting_.find(message.request());
    if (!message.has_admin_reply() || asker == waiting_.end()) return;
    send(asker->second.address, asker->second.request, message.admin_reply());
    waiting_.erase(asker);
  }

  void send(const Address& to, uint64_t request, pb::AdminReply reply) {
    auto message = std::make_shared<pb::Message>();
    message->set_request(request);
    *message->mutable_admin_reply() = std::move(reply);
    outside_->send(to, std::move(message));
  }

  Surroundings& surroundings_;
  const std::vector<Address> nodes_;
  const Own own_;
  AsioLoop loop_{"admin"};
  std::unique_ptr<TcpTransport> outside_;
  Surroundings::Endpoint inside_;
  std::map<uint64_t, Asker> waiting_;  // By the number under which the node was asked.
  uint64_t asked_ = 0;
};

AdminPort::AdminPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminPort::~AdminPort() = default;

Result<std::unique_ptr<AdminPort>> AdminPort::start(Surroundings& surroundings, const Address& listen,
                                                    std::vector<Address> nodes, Own own) {
  auto impl = std::make_unique<Impl>(surroundings, std::move(nodes), std::move(own));
  TM_TRY(impl->start(listen));
  return std::unique_ptr<AdminPort>(new AdminPort(std::move(impl)));
}

const Address& AdminPort::address() const {
  return impl_->address();
}

}  // namespace tidemark
