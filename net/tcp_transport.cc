#include "net/tcp_transport.h"

#include <array>
#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <map>

#include "base/assert.h"
#include "net/acceptor.h"
#include "net/frame.h"
#include "net/name_resolver.h"
#include "net/notice_limiter.h"
#include "net/vanished_peer.h"
#include "proto/messages.pb.h"

namespace tidemark {

namespace {

using asio::ip::tcp;

std::chrono::microseconds chrono(Micros span) {
  return std::chrono::microseconds(span.value);
}

}  // namespace

class Connection;

class TcpTransport::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AsioLoop& on, TcpOptions with)
      : loop(on),
        options(std::move(with)),
        acceptor_(loop.context()),
        names_(loop),
        notices_(loop, options.notice_interval, options.notice) {}

  Status listen();
  void accept();
  void stop();
  void send(const Address& to, MessagePtr message);
  size_t unsent_bytes(const Address& to) const;

  // Told by connections.
  void received(const Address& from, MessagePtr message) {
    if (handlers.on_message) handlers.on_message(from, std::move(message));
  }
  void closed(const Address& peer, const Connection* connection);
  void refused(const std::string& where, const std::string& reason) {
    notices_.tell("closed a connection with " + where + ": " + reason);
  }
  void dropped(const pb::Message& message) {
    const auto* kind = pb::Message::descriptor()->FindFieldByNumber(message.body_case());
    notices_.tell("dropped a message of kind " + (kind ? kind->name() : "none") + " and " +
                  std::to_string(message.ByteSizeLong()) + " bytes: a frame has at most " +
                  std::to_string(kFrameBytesMax));
  }

  AsioLoop& loop;
  TcpOptions options;
  Handlers handlers;
  Address address;
  bool stopped = false;

 private:
  std::shared_ptr<Connection> connect(const Address& to);

  tcp::acceptor acceptor_;
  NameResolver names_;
  std::map<Address, std::shared_ptr<Connection>> connections_;
  uint64_t incoming_count_ = 0;
  NoticeLimiter notices_;
};

// One connection, either way. It ends itself on any error and then tells its owner once.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<TcpTransport::Impl> owner, Address peer, tcp::socket socket)
      : owner_(owner),
        loop_(owner->loop),
        peer_(std::move(peer)),
        socket_(std::move(socket)),
        deadline_(loop_.context()),
        unsent_bytes_max_(owner->options.unsent_bytes_max),
        cluster_(owner->options.cluster) {}

  size_t unsent_bytes() const { return writing_.size() + waiting_.size(); }

  // Closes unless cancelled by the next stage.
  void set_deadline(Micros span) {
    deadline_.expires_after(chrono(span));
    deadline_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      if (!error) self->refuse("it did not say hello in time");
    });
  }

  void connect(const NameResolver::Endpoints& found) {
    if (closed_) return;
    if (found.empty()) return close();
    asio::async_connect(socket_, found,
                        [self = shared_from_this()](const asio::error_code& error, const tcp::endpoint&) {
                          if (error) return self->close();
                          self->start();
                        });
  }

  // The socket is connected: says hello, and reads.
  void start() {
    auto owner = owner_.lock();
    if (!owner || closed_) return;
    asio::error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    close_if_silent(socket_);
    close_if_unacknowledged(socket_);
    pb::Message hello;
    hello.mutable_hello()->set_major(kProtocolMajor);
    hello.mutable_hello()->set_minor(kProtocolMinor);
    hello.mutable_hello()->set_cluster(cluster_);
    hello.mutable_hello()->set_name(owner->options.name);
    std::string first;
    const bool fits = append_frame(first, hello);
    TM_ASSERT(fits);
    waiting_.insert(0, first);
    connected_ = true;
    where_ = peer_address();
    set_deadline(owner->options.handshake_timeout);
    write();
    read();
  }

  void send(const pb::Message& message) {
    if (closed_ || unsent_bytes() > unsent_bytes_max_) return;
    if (!append_frame(waiting_, message)) {
      if (auto owner = owner_.lock()) owner->dropped(message);
      return;
    }
    if (connected_) write();
  }

  // The peer's fault: people should know.
  void refuse(const std::string& reason) {
    if (closed_) return;
    if (auto owner = owner_.lock(); owner && connected_) owner->refused(where_, reason);
    close();
  }

  void close() {
    if (closed_) return;
    closed_ = true;
    deadline_.cancel();
    asio::error_code ignored;
    socket_.close(ignored);
    if (auto owner = owner_.lock()) owner->closed(peer_, this);
  }

 private:
  // By now it may have gone.
  std::string peer_address() const {
    asio::error_code gone;
    const tcp::endpoint peer = socket_.remote_endpoint(gone);
    return gone ? "somebody" : peer.address().to_string() + ":" + std::to_string(peer.port());
  }

  void write() {
    if (closed_ || !writing_.empty() || waiting_.empty()) return;
    writing_.swap(waiting_);
    asio::async_write(socket_, asio::buffer(writing_),
                      [self = shared_from_this()](const asio::error_code& error, size_t) {
                        self->writing_.clear();
                        if (error) return self->close();
                        self->write();
                      });
  }

  void read() {
    socket_.async_read_some(asio::buffer(input_),
                            [self = shared_from_this()](const asio::error_code& error, size_t size) {
                              if (error) return self->close();
                              self->parser_.feed({self->input_.data(), size});
                              if (self->take_messages()) self->read();
                            });
  }

  bool take_messages() {
    while (!closed_) {
      Result<MessagePtr> next = parser_.next();
      if (!next.ok()) {
        refuse(next.error().message);
      } else if (!*next) {
        return true;
      } else if (!greeted_) {
        greet(**next);
      } else {
        handle(*next);
      }
    }
    return false;
  }

  void greet(const pb::Message& message) {
    const pb::Hello& hello = message.hello();
    if (!message.has_hello()) return refuse("its first message is no hello");
    if (hello.major() != kProtocolMajor) {
      return refuse("it speaks version " + std::to_string(hello.major()) + " of the protocol, not " +
                    std::to_string(kProtocolMajor));
    }
    const bool ours = hello.cluster() == cluster_ || hello.cluster() == 0 || cluster_ == 0;
    if (!ours) return refuse("it is of another cluster");
    greeted_ = true;
    deadline_.cancel();
    parser_.set_frame_bytes_max(kFrameBytesMax);
  }

  void handle(const MessagePtr& message) {
    if (message->has_hello()) return refuse("it says hello again");
    auto owner = owner_.lock();
    if (!owner || owner->stopped) return close();
    owner->received(peer_, message);
  }

  std::weak_ptr<TcpTransport::Impl> owner_;
  AsioLoop& loop_;
  Address peer_;
  tcp::socket socket_;
  asio::steady_timer deadline_;
  size_t unsent_bytes_max_;
  uint64_t cluster_;
  bool connected_ = false;
  std::string where_;  // The peer's address, for people; once connected.
  bool greeted_ = false;
  bool closed_ = false;
  std::string writing_;
  std::string waiting_;
  std::array<char, 65536> input_;
  FrameParser parser_;
};

Status TcpTransport::Impl::listen() {
  if (options.listen.value.empty()) return {};
  Result<Address> opened = open_acceptor(acceptor_, options.listen);
  if (!opened.ok()) return opened.error();
  address = *opened;
  accept();
  return {};
}

void TcpTransport::Impl::accept() {
  acceptor_.async_accept([self = shared_from_this()](const asio::error_code& error, tcp::socket socket) {
    if (self->stopped || error == asio::error::operation_aborted) return;
    if (error) {
      // Out of file descriptors, most likely: try again when some may have been closed.
      self->loop.post_after(Micros{100'000}, [self] { self->accept(); });
      return;
    }
    if (self->connections_.size() < self->options.connections_max) {
      Address peer{"incoming:" + std::to_string(++self->incoming_count_)};
      auto connection = std::make_shared<Connection>(self, peer, std::move(socket));
      self->connections_[peer] = connection;
      connection->start();
    }
    self->accept();
  });
}

void TcpTransport::Impl::stop() {
  stopped = true;
  asio::error_code ignored;
  acceptor_.close(ignored);
  names_.stop();
  auto connections = std::move(connections_);
  connections_.clear();
  for (auto& [peer, connection] : connections) connection->close();
}

std::shared_ptr<Connection> TcpTransport::Impl::connect(const Address& to) {
  auto connection = std::make_shared<Connection>(shared_from_this(), to, tcp::socket(loop.context()));
  connections_[to] = connection;
  connection->set_deadline(options.connect_timeout);
  names_.resolve(split_address(to), [connection](const auto& found) { connection->connect(found); });
  return connection;
}

void TcpTransport::Impl::send(const Address& to, MessagePtr message) {
  if (stopped) return;
  auto it = connections_.find(to);
  if (it != connections_.end()) return it->second->send(*message);
  if (to.value.starts_with("incoming:")) return;  // It has gone; the peer asks again.
  connect(to)->send(*message);
}

size_t TcpTransport::Impl::unsent_bytes(const Address& to) const {
  auto it = connections_.find(to);
  return it == connections_.end() ? 0 : it->second->unsent_bytes();
}

void TcpTransport::Impl::closed(const Address& peer, const Connection* connection) {
  auto it = connections_.find(peer);
  if (it == connections_.end() || it->second.get() != connection) return;
  connections_.erase(it);
  if (stopped) return;
  // Not from inside send(): its caller may be in the middle of something.
  loop.post([self = shared_from_this(), peer] {
    if (!self->stopped && self->handlers.on_disconnect) self->handlers.on_disconnect(peer);
  });
}

Result<std::unique_ptr<TcpTransport>> TcpTransport::start(AsioLoop& loop, TcpOptions options) {
  auto impl = std::make_shared<Impl>(loop, std::move(options));
  Status status;
  if (loop.on_loop()) {
    status = impl->listen();
  } else {
    loop.run([&] { status = impl->listen(); });
  }
  if (!status.ok()) return status.error();
  return std::unique_ptr<TcpTransport>(new TcpTransport(std::move(impl)));
}

TcpTransport::TcpTransport(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
TcpTransport::~TcpTransport() {
  impl_->stop();
}

const Address& TcpTransport::address() const {
  return impl_->address;
}
void TcpTransport::send(const Address& to, MessagePtr message) {
  impl_->send(to, std::move(message));
}
size_t TcpTransport::unsent_bytes(const Address& to) const {
  return impl_->unsent_bytes(to);
}
void TcpTransport::set_handlers(Handlers handlers) {
  impl_->handlers = std::move(handlers);
}

}  // namespace tidemark
