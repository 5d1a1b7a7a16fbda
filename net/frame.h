// How messages lie on a connection: a little-endian length, then a Protocol Buffers Message. The length is
// checked before anything is allocated for it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/transport.h"

namespace tidemark {

inline constexpr size_t kFrameBytesMax = size_t{8} << 20;
inline constexpr size_t kHelloBytesMax = 4096;  // Of the first frame of a connection.
inline constexpr uint32_t kProtocolMajor = 1;
inline constexpr uint32_t kProtocolMinor = 0;

// Appends the frame to `out`. False: it would be larger than a frame may be, and `out` is as it was.
[[nodiscard]] bool append_frame(std::string& out, const pb::Message& message);

// Splits a stream of bytes into messages.
class FrameParser {
 public:
  // Takes all of `bytes`.
  void feed(std::string_view bytes) { buffer_.append(bytes); }

  // The next whole message, nullptr if more bytes are needed. Error: the connection must be closed.
  Result<MessagePtr> next();

  void set_frame_bytes_max(size_t bytes) { frame_bytes_max_ = bytes; }

 private:
  std::string buffer_;
  size_t consumed_ = 0;
  size_t frame_bytes_max_ = kHelloBytesMax;
};

}  // namespace tidemark
