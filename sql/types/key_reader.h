// Internal to key encodings: reads bytes, complemented for descending columns.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "sql/types/arena.h"
#include "sql/types/fault.h"
#include "sql/types/numeric.h"

namespace tidemark::sql::key_detail {

inline constexpr Fault kCorruptKey{sqlstate::kDataCorrupted, "malformed key"};

class KeyReader {
 public:
  KeyReader(std::string_view key, size_t at, uint8_t mask) : key_(key), at_(at), mask_(mask) {}

  size_t position() const { return at_; }
  uint8_t mask() const { return mask_; }
  size_t left() const { return key_.size() - at_; }

  bool take_byte(uint8_t& out) {
    if (at_ >= key_.size()) return false;
    out = static_cast<uint8_t>(key_[at_++]) ^ mask_;
    return true;
  }

  // A big-endian number of `size` bytes.
  bool take_number(size_t size, uint64_t& out) {
    if (left() < size) return false;
    out = 0;
    for (size_t i = 0; i < size; ++i) out = (out << 8) | (static_cast<uint8_t>(key_[at_ + i]) ^ mask_);
    at_ += size;
    return true;
  }

  // Bytes up to 00 00, with 00 FF as 00. A view into the key where nothing has to be changed.
  bool take_escaped(Arena& arena, std::string_view& out) {
    const size_t start = at_;
    size_t escapes = 0;
    for (;;) {
      uint8_t byte = 0, next = 0;
      if (!take_byte(byte)) return false;
      if (byte != 0) continue;
      if (!take_byte(next)) return false;
      if (next == 0) break;
      if (next != 0xff) return false;
      ++escapes;
    }
    const std::string_view raw = key_.substr(start, at_ - start - 2);
    if (escapes == 0 && mask_ == 0) {
      out = raw;
      return true;
    }
    char* bytes = arena.allocate(raw.size() - escapes);
    size_t size = 0;
    for (size_t i = 0; i < raw.size(); ++i) {
      bytes[size++] = static_cast<char>(static_cast<uint8_t>(raw[i]) ^ mask_);
      if (bytes[size - 1] == 0) ++i;
    }
    out = {bytes, size};
    return true;
  }

 private:
  std::string_view key_;
  size_t at_;
  uint8_t mask_;
};

Fault read_numeric(KeyReader& in, Arena& arena, Numeric& out);

}  // namespace tidemark::sql::key_detail
