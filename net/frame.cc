#include "net/frame.h"

#include "base/bytes.h"
#include "proto/messages.pb.h"

namespace tidemark {

namespace {
constexpr size_t kHeaderBytes = 4;
}

bool append_frame(std::string& out, const pb::Message& message) {
  size_t size = message.ByteSizeLong();
  if (size > kFrameBytesMax) return false;
  out.reserve(out.size() + kHeaderBytes + size);
  put_fixed32(out, static_cast<uint32_t>(size));
  return message.AppendToString(&out);
}

Result<MessagePtr> FrameParser::next() {
  std::string_view left = std::string_view(buffer_).substr(consumed_);
  size_t size = left.size() < kHeaderBytes ? 0 : ByteReader(left).fixed32();
  if (size > frame_bytes_max_) {
    return Error{"a frame of " + std::to_string(size) + " bytes; at most " +
                 std::to_string(frame_bytes_max_) + " are allowed here"};
  }
  if (left.size() < kHeaderBytes || left.size() < kHeaderBytes + size) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
    return MessagePtr{};
  }
  auto message = std::make_shared<pb::Message>();
  if (!message->ParseFromArray(left.data() + kHeaderBytes, static_cast<int>(size))) {
    return Error{"a frame that is no message"};
  }
  consumed_ += kHeaderBytes + size;
  return MessagePtr(std::move(message));
}

}  // namespace tidemark
