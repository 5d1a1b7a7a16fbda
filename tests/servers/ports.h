// TCP ports that no other test on this machine uses, held for as long as the object lives.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::servers {

// A port stays its holder's while its server is down, so that a restart finds it free: it lies below the
// range from which the kernel takes ports for outgoing connections, and other tests see that it is held (an
// abstract unix socket of that name, which goes with the process, however that ends).
class HeldPort {
 public:
  HeldPort();
  ~HeldPort();
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;

  uint16_t number() const { return number_; }
  // "127.0.0.1:<number>"
  std::string address() const;

 private:
  uint16_t number_ = 0;
  int hold_ = -1;
};

}  // namespace tidemark::servers
