#include "sql/gateway/server.h"

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <map>
#include <random>
#include <utility>

#include "net/acceptor.h"
#include "net/vanished_peer.h"

namespace tidemark::sql {

namespace {
using asio::ip::tcp;
}

// A socket and the protocol core behind it.
class Client : public std::enable_shared_from_this<Client> {
 public:
  using OnEnd = std::function<void(CancelKey)>;

  Client(tcp::socket socket, AsioLoop& loop, CancelKey key, SessionFactory make_session,
         std::function<void(CancelKey)> cancel, OnEnd on_end, ConnectionOptions options)
      : socket_(std::move(socket)), loop_(loop), on_end_(std::move(on_end)) {
    Connection::Outside outside;
    outside.on_progress = [this] { write(); };
    outside.on_close = [this] { write(); };
    outside.cancel = std::move(cancel);
    connection_ =
        std::make_unique<Connection>(key, std::move(make_session), std::move(outside), std::move(options));
  }

  void start(Micros startup_timeout) {
    asio::error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    close_if_silent(socket_);
    loop_.post_after(startup_timeout, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->connection_ && !self->connection_->started()) self->end();
    });
    read();
  }

  void cancel() {
    if (connection_) connection_->cancel();
  }

  void end() {
    if (ended_) return;
    close();
    // Not from inside the session or the connection.
    loop_.post([self = shared_from_this()] {
      if (!self->connection_) return;
      CancelKey key = self->connection_->key();
      self->connection_.reset();
      self->on_end_(key);
    });
  }

  // The session is gone when it returns. REQUIRES: not from inside the session or the connection.
  void end_now() {
    close();
    connection_.reset();
  }

 private:
  void close() {
    ended_ = true;
    asio::error_code ignored;
    socket_.close(ignored);
  }

  // Reads on as long as the core wants input; while a statement runs, only to notice that the client left.
  void read() {
    if (ended_ || reading_ || !connection_ || !connection_->wants_input()) return;
    reading_ = true;
    socket_.async_read_some(asio::buffer(input_),
                            [self = shared_from_this()](const asio::error_code& error, size_t size) {
                              self->reading_ = false;
                              if (error || self->ended_) return self->end();
                              self->connection_->feed({self->input_.data(), size});
                              self->write();
                              self->read();
                            });
  }

  void write() {
    if (ended_ || !writing_.empty() || !connection_) return;
    if (!connection_->has_output()) {
      if (connection_->closed()) end();
      return read();
    }
    writing_ = connection_->take_output();
    send();
    connection_->go_on();
  }

  void send() {
    asio::async_write(socket_, asio::buffer(writing_),
                      [self = shared_from_this()](const asio::error_code& error, size_t) {
                        self->writing_.clear();
                        if (error || self->ended_) return self->end();
                        self->write();
                      });
  }

  tcp::socket socket_;
  AsioLoop& loop_;
  OnEnd on_end_;
  std::unique_ptr<Connection> connection_;
  std::array<char, 65536> input_;
  std::string writing_;
  bool reading_ = false;
  bool ended_ = false;
};

class GatewayServer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AsioLoop& on, SessionFactory make_session, GatewayOptions with)
      : loop(on),
        options(std::move(with)),
        make_session_(std::move(make_session)),
        acceptor_(loop.context()) {}

  Status listen() {
    Result<Address> opened = open_acceptor(acceptor_, options.listen);
    if (!opened.ok()) return opened.error();
    address = *opened;
    accept();
    return {};
  }

  void stop() {
    stopped_ = true;
    asio::error_code ignored;
    acceptor_.close(ignored);
    // At once: what sessions are made from may be destroyed next, and a posted end would come after that.
    for (auto& [key, client] : std::exchange(clients_, {})) client->end_now();
  }

  size_t connection_count() const { return clients_.size(); }

  AsioLoop& loop;
  GatewayOptions options;
  Address address;

 private:
  void accept() {
    acceptor_.async_accept([self = shared_from_this()](const asio::error_code& error, tcp::socket socket) {
      if (self->stopped_ || error == asio::error::operation_aborted) return;
      if (error) {
        self->loop.post_after(Micros{100'000}, [self] { self->accept(); });
        return;
      }
      self->add(std::move(socket));
      self->accept();
    });
  }

  void add(tcp::socket socket) {
    if (clients_.size() >= options.connections_max + options.refused_max) return;  // Closes the socket.
    CancelKey key{++last_pid_, static_cast<int32_t>(secrets_())};
    SessionFactory make_session = make_session_;
    if (clients_.size() >= options.connections_max) {
      make_session = [](const SessionRequest&) -> Result<std::unique_ptr<Session>, SqlError> {
        return SqlError{"53300", "too many clients already", 0, {}, {}};
      };
    }
    auto client = std::make_shared<Client>(
        std::move(socket), loop, key, std::move(make_session),
        [weak = weak_from_this()](CancelKey named) {
          auto self = weak.lock();
          auto it =
              self ? self->clients_.find(named) : std::map<CancelKey, std::shared_ptr<Client>>::iterator{};
          if (self && it != self->clients_.end()) it->second->cancel();
        },
        [weak = weak_from_this()](CancelKey ended) {
          if (auto self = weak.lock()) self->clients_.erase(ended);
        },
        options.connection);
    clients_[key] = client;
    client->start(options.startup_timeout);
  }

  SessionFactory make_session_;
  tcp::acceptor acceptor_;
  std::map<CancelKey, std::shared_ptr<Client>> clients_;
  std::random_device secrets_;
  int32_t last_pid_ = 0;
  bool stopped_ = false;
};

Result<std::unique_ptr<GatewayServer>> GatewayServer::start(AsioLoop& loop, SessionFactory make_session,
                                                            GatewayOptions options) {
  auto impl = std::make_shared<Impl>(loop, std::move(make_session), std::move(options));
  Status status;
  if (loop.on_loop()) {
    status = impl->listen();
  } else {
    loop.run([&] { status = impl->listen(); });
  }
  if (!status.ok()) return status.error();
  return std::unique_ptr<GatewayServer>(new GatewayServer(std::move(impl)));
}

GatewayServer::GatewayServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
GatewayServer::~GatewayServer() {
  impl_->stop();
}
const Address& GatewayServer::address() const {
  return impl_->address;
}
size_t GatewayServer::connection_count() const {
  return impl_->connection_count();
}

}  // namespace tidemark::sql
