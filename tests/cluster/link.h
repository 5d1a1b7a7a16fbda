// A wire between processes that can be cut: a TCP proxy in the test. Whoever should notice a cut connects to
// the link instead of to the server behind it.
#pragma once

#include <memory>
#include <string>

#include "net/asio_loop.h"
#include "tests/servers/ports.h"

namespace tidemark::crash {

enum class Heal : uint8_t {
  Resume,  // What was on its way arrives late.
  Reset,   // Every connection breaks, with what was on its way.
};

// Thread-safe. REQUIRES: the loop outlives it.
class Link {
 public:
  Link(AsioLoop& loop, std::string target);
  ~Link();

  const std::string& address() const { return address_; }

  // No byte passes in either direction, and nobody is told; new connections get no answer.
  void cut();
  void heal(Heal how);

 private:
  class Impl;
  servers::HeldPort port_;
  const std::string address_;
  AsioLoop& loop_;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::crash
