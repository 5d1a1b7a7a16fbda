#include "tests/cluster/link.h"

#include <array>
#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <set>
#include <vector>

namespace tidemark::crash {
namespace {

using asio::ip::tcp;

tcp::endpoint endpoint_of(const std::string& address) {
  const size_t colon = address.rfind(':');
  return {asio::ip::make_address(address.substr(0, colon)),
          static_cast<uint16_t>(std::stoul(address.substr(colon + 1)))};
}

// Both ends of one connection. Lives on the loop.
class Wire : public std::enable_shared_from_this<Wire> {
 public:
  Wire(tcp::socket client, asio::io_context& context)
      : directions_{Direction{std::move(client)}, Direction{tcp::socket(context)}} {}

  void connect(const tcp::endpoint& target) {
    directions_[1].from.async_connect(target, [self = shared_from_this()](const asio::error_code& failed) {
      if (failed) return self->close();
      self->read(0);
      self->read(1);
    });
  }

  void hold() { held_ = true; }
  void release() {
    held_ = false;
    for (size_t i = 0; i < directions_.size(); ++i)
      if (std::exchange(directions_[i].waiting, false)) write(i);
  }

  void close() {
    closed_ = true;
    asio::error_code ignored;
    for (Direction& one : directions_) one.from.close(ignored);
  }
  bool closed() const { return closed_; }

 private:
  struct Direction {
    tcp::socket from;
    std::array<char, 64 * 1024> bytes{};
    size_t size = 0;
    bool waiting = false;  // Read, and held back.
  };

  void read(size_t i) {
    Direction& one = directions_[i];
    one.from.async_read_some(asio::buffer(one.bytes),
                             [self = shared_from_this(), i](const asio::error_code& failed, size_t size) {
                               if (failed) return self->close();
                               self->directions_[i].size = size;
                               if (self->held_) {
                                 self->directions_[i].waiting = true;
                               } else {
                                 self->write(i);
                               }
                             });
  }

  void write(size_t i) {
    Direction& one = directions_[i];
    asio::async_write(directions_[1 - i].from, asio::buffer(one.bytes, one.size),
                      [self = shared_from_this(), i](const asio::error_code& failed, size_t) {
                        if (failed) return self->close();
                        self->read(i);
                      });
  }

  std::array<Direction, 2> directions_;
  bool held_ = false;
  bool closed_ = false;
};

}  // namespace

class Link::Impl : public std::enable_shared_from_this<Link::Impl> {
 public:
  Impl(asio::io_context& context, const std::string& listen, const std::string& target)
      : context_(context), target_(endpoint_of(target)), acceptor_(context, endpoint_of(listen)) {}

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](const asio::error_code& failed, tcp::socket client) {
      if (failed) return;
      self->take(std::move(client));
      self->accept();
    });
  }

  void cut() {
    cut_ = true;
    for (const auto& wire : wires_) wire->hold();
  }

  void heal(Heal how) {
    cut_ = false;
    for (const auto& wire : wires_) how == Heal::Reset ? wire->close() : wire->release();
    for (const auto& wire : std::exchange(unanswered_, {})) how == Heal::Reset ? wire->close() : begin(wire);
  }

  void close() {
    asio::error_code ignored;
    acceptor_.close(ignored);
    for (const auto& wire : wires_) wire->close();
    for (const auto& wire : unanswered_) wire->close();
  }

 private:
  void take(tcp::socket client) {
    auto wire = std::make_shared<Wire>(std::move(client), context_);
    cut_ ? unanswered_.push_back(wire) : begin(wire);
  }

  void begin(const std::shared_ptr<Wire>& wire) {
    std::erase_if(wires_, [](const auto& one) { return one->closed(); });
    wires_.push_back(wire);
    wire->connect(target_);
  }

  asio::io_context& context_;
  const tcp::endpoint target_;
  tcp::acceptor acceptor_;
  bool cut_ = false;
  std::vector<std::shared_ptr<Wire>> wires_;
  std::vector<std::shared_ptr<Wire>> unanswered_;  // Came while it was cut.
};

Link::Link(AsioLoop& loop, std::string target) : address_(port_.address()), loop_(loop) {
  loop_.run([&] {
    impl_ = std::make_shared<Impl>(loop_.context(), address_, target);
    impl_->accept();
  });
}

Link::~Link() {
  loop_.run([this] { impl_->close(); });
}

void Link::cut() {
  loop_.run([this] { impl_->cut(); });
}

void Link::heal(Heal how) {
  loop_.run([this, how] { impl_->heal(how); });
}

}  // namespace tidemark::crash
