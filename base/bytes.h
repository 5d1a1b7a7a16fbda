// Writing and reading bytes: varints, little-endian integers, length-prefixed strings. Reading is total:
// past the end or malformed, the reader fails for good and gives zeros and empty views.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tidemark {

inline void put_u8(std::string& out, uint8_t value) {
  out.push_back(static_cast<char>(value));
}

inline void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

inline uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

inline void put_fixed64(std::string& out, uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.append(bytes, sizeof bytes);
}
inline void put_fixed32(std::string& out, uint32_t value) {
  char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.append(bytes, sizeof bytes);
}

// Big-endian, so that bytes compare as the numbers do.
inline void put_ordered64(std::string& out, uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (56 - 8 * i));
  out.append(bytes, sizeof bytes);
}
inline void put_ordered32(std::string& out, uint32_t value) {
  char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (24 - 8 * i));
  out.append(bytes, sizeof bytes);
}

inline void put_bytes(std::string& out, std::string_view bytes) {
  put_varint(out, bytes.size());
  out.append(bytes);
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  bool done() const { return left_.empty(); }
  std::string_view left() const { return left_; }

  uint8_t u8() {
    if (!need(1)) return 0;
    return static_cast<uint8_t>(take(1)[0]);
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (!need(1)) return 0;
      auto byte = static_cast<uint8_t>(take(1)[0]);
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  uint32_t varint32() {
    uint64_t value = varint();
    if (value > UINT32_MAX) {
      fail();
      return 0;
    }
    return static_cast<uint32_t>(value);
  }
  uint64_t fixed64() { return little_endian(8); }
  uint32_t fixed32() { return static_cast<uint32_t>(little_endian(4)); }
  uint64_t ordered64() { return big_endian(8); }
  uint32_t ordered32() { return static_cast<uint32_t>(big_endian(4)); }
  std::string_view bytes() { return take_checked(varint()); }
  std::string_view take_checked(uint64_t size) {
    if (!need(size)) return {};
    return take(static_cast<size_t>(size));
  }
  void fail() {
    ok_ = false;
    left_ = {};
  }

 private:
  bool need(uint64_t size) {
    if (ok_ && size <= left_.size()) return true;
    fail();
    return false;
  }
  std::string_view take(size_t size) {
    std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }
  uint64_t little_endian(int size) {
    if (!need(static_cast<uint64_t>(size))) return 0;
    std::string_view bytes = take(static_cast<size_t>(size));
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; --i)
      value = value << 8 | static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
    return value;
  }
  uint64_t big_endian(int size) {
    if (!need(static_cast<uint64_t>(size))) return 0;
    uint64_t value = 0;
    for (char byte : take(static_cast<size_t>(size))) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  }

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace tidemark
