#include "tests/cluster/flood.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/assert.h"
#include "net/frame.h"
#include "proto/messages.pb.h"

namespace tidemark::crash {
namespace {

std::string random_bytes(size_t size, Random& random) {
  std::string out(size, '\0');
  for (char& byte : out) byte = static_cast<char>(random.next());
  return out;
}

// A length in either byte order, far beyond any limit or just below one, and a little of what it announces.
std::string lying_length(Random& random) {
  std::string out =
      random.chance(0.5) ? std::string("\xff\xff\xff\xff", 4) : std::string("\x00\x0f\xff\xff", 4);
  if (random.chance(0.5)) std::swap(out[0], out[3]);
  return out + random_bytes(random.below(2000), random);
}

std::string greeting() {
  pb::Message hello;
  hello.mutable_hello()->set_major(kProtocolMajor);
  std::string out;
  const bool fits = append_frame(out, hello);
  TM_ASSERT(fits);
  return out;
}

// A message as it should be, but for what is in it.
std::string empty_words(Random& random) {
  pb::Message message;
  message.set_request(random.next());
  const uint64_t region = random.below(6);
  const std::string bytes = random_bytes(random.below(2000), random);
  switch (random.below(4)) {
    case 0:
      message.mutable_write()->set_region(region);
      message.mutable_write()->set_operations(bytes);
      break;
    case 1: message.mutable_effects()->set_effects(bytes); break;
    case 2:
      message.mutable_get()->set_region(region);
      message.mutable_get()->add_keys(bytes);
      break;
    default: message.mutable_scan()->set_region(region); message.mutable_scan()->set_cursor(bytes);
  }
  std::string out;
  const bool fits = append_frame(out, message);
  TM_ASSERT(fits);
  return out;
}

int connect_to(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

std::string any_rubbish(Random& random) {
  switch (random.below(4)) {
    case 0: return random_bytes(1 + random.below(100'000), random);
    case 1: return lying_length(random);
    case 2: return std::string("\x00\x00\x00\x08\x04\xd2\x16\x2f", 8) + lying_length(random);  // SSLRequest.
    default: return std::string("\x00\x00\x00", 3);
  }
}

std::string rubbish_for_node(Random& random) {
  if (random.chance(0.3)) return any_rubbish(random);
  std::string out = greeting();
  for (uint64_t messages = random.below(20); messages > 0; --messages) out += empty_words(random);
  return out + any_rubbish(random);
}

size_t flood(uint16_t port, size_t connections, Random& random, const Rubbish& rubbish) {
  std::vector<int> open;
  size_t accepted = 0;
  for (size_t i = 0; i < connections; ++i) {
    const int fd = connect_to(port);
    if (fd < 0) continue;
    const std::string bytes = rubbish(random);
    accepted += send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0;
    if (random.chance(0.3)) {
      open.push_back(fd);
    } else {
      close(fd);
    }
  }
  for (int fd : open) close(fd);
  return accepted;
}

}  // namespace tidemark::crash
