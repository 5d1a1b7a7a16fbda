// Memory for the variable-size parts of values: handed out piece by piece, given back all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace tidemark::sql {

// Not thread-safe. What it hands out lives until reset() or destruction; reset() keeps the memory for reuse.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  // `size` bytes, not aligned: the parts of values are bytes.
  char* allocate(size_t size) {
    if (size <= left_) [[likely]] {
      char* out = next_;
      next_ += size;
      left_ -= size;
      used_ += size;
      return out;
    }
    return allocate_block(size);
  }

  std::string_view copy(std::string_view bytes) {
    if (bytes.empty()) return {};
    char* out = allocate(bytes.size());
    std::memcpy(out, bytes.data(), bytes.size());
    return {out, bytes.size()};
  }

  void reset() {
    if (blocks_.empty()) return;
    if (blocks_.size() > 1) blocks_.resize(1);
    next_ = blocks_[0].memory.get();
    left_ = blocks_[0].size;
    used_ = 0;
  }

  // Bytes handed out since the last reset.
  size_t used_bytes() const { return used_; }

 private:
  static constexpr size_t kBlockBytes = 4096;
  static constexpr size_t kBlockBytesMax = 256 * 1024;

  struct Block {
    std::unique_ptr<char[]> memory;
    size_t size;
  };

  char* allocate_block(size_t size) {
    size_t wanted = blocks_.empty() ? kBlockBytes : blocks_.back().size * 2;
    if (wanted > kBlockBytesMax) wanted = kBlockBytesMax;
    if (wanted < size) wanted = size;
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(wanted), wanted});
    next_ = blocks_.back().memory.get() + size;
    left_ = wanted - size;
    used_ += size;
    return blocks_.back().memory.get();
  }

  std::vector<Block> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t used_ = 0;
};

}  // namespace tidemark::sql
