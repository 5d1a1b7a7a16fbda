#include "net/name_resolver.h"

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <utility>

namespace tidemark {

using asio::ip::tcp;

namespace {

constexpr size_t kThreads = 8;

NameResolver::Endpoints ask(const std::string& host, const std::string& port, tcp::resolver::flags flags) {
  asio::io_context context;  // Nothing runs on it.
  tcp::resolver resolver(context);
  asio::error_code error;
  auto found = resolver.resolve(host, port, flags, error);
  return error ? NameResolver::Endpoints() : found;
}

}  // namespace

void NameResolver::resolve(const HostPort& where, Done done) {
  const Endpoints numeric =
      ask(where.host, where.port, tcp::resolver::numeric_host | tcp::resolver::numeric_service);
  if (!numeric.empty()) return done(numeric);
  const Name name{where.host, where.port};
  auto& waiting = waiting_[name];
  waiting.push_back(std::move(done));
  if (waiting.size() == 1) look_up(name);
}

void NameResolver::look_up(const Name& name) {
  if (threads_ == nullptr) threads_ = std::make_unique<asio::thread_pool>(kThreads);
  asio::post(*threads_, [this, &loop = loop_, alive = guarded_.token(), name] {
    auto found = ask(name.first, name.second, {});
    loop.post([this, alive, name, found = std::move(found)] {
      if (!alive.expired()) finish(name, found);
    });
  });
}

void NameResolver::finish(const Name& name, const Endpoints& found) {
  auto waiting = waiting_.extract(name);
  if (waiting.empty()) return;  // Stopped.
  for (const Done& done : waiting.mapped()) done(found);
}

void NameResolver::stop() {
  threads_.reset();
  waiting_.clear();
}

}  // namespace tidemark
