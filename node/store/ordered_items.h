// Items in the order of their keys, found by binary search in few, dense pieces of memory: an insertion into
// a million of them touches a handful of cache lines, where a tree with a node per item touches twenty.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"

namespace tidemark {

// `Item` has key(), bytes that no two items share and that stay the same while it is here. Not thread-safe.
template <typename Item>
class OrderedItems {
  // The key's first bytes as a number: decides nearly every comparison without a look at the item.
  struct Entry {
    uint64_t head = 0;
    Item* item = nullptr;
  };
  struct Bound {
    uint64_t head = 0;
    std::string key;
    bool operator<(const Bound& other) const { return is_before(other.head, other.key); }
    bool is_before(uint64_t other_head, std::string_view other_key) const {
      return head != other_head ? head < other_head : std::string_view(key) < other_key;
    }
  };
  struct Probe {
    uint64_t head = 0;
    std::string_view key;
  };
  struct BoundLess {
    using is_transparent = void;
    bool operator()(const Bound& a, const Bound& b) const { return a < b; }
    bool operator()(const Probe& a, const Bound& b) const {
      return a.head != b.head ? a.head < b.head : a.key < b.key;
    }
    bool operator()(const Bound& a, const Probe& b) const { return a.is_before(b.head, b.key); }
  };
  using Chunk = std::vector<Entry>;
  // A chunk's items lie at or after its bound and before the next one's. The first one's is the lowest.
  using Chunks = std::map<Bound, Chunk, BoundLess>;

 public:
  // An item, or the end in either direction. Invalid once anything is inserted or erased.
  class Place {
   public:
    bool valid() const { return chunk_ != chunks_->end(); }
    Item* item() const { return chunk_->second[index_].item; }
    void next() {
      if (++index_ < chunk_->second.size()) return;
      ++chunk_;
      index_ = 0;
    }
    void previous() {
      if (index_ > 0) {
        --index_;
      } else if (chunk_ == chunks_->begin()) {
        chunk_ = chunks_->end();
      } else {
        --chunk_;
        index_ = chunk_->second.size() - 1;
      }
    }

   private:
    friend class OrderedItems;
    Place(const Chunks* chunks, typename Chunks::const_iterator chunk, size_t index)
        : chunks_(chunks), chunk_(chunk), index_(index) {}
    const Chunks* chunks_;
    typename Chunks::const_iterator chunk_;
    size_t index_;
  };

  bool empty() const { return chunks_.empty(); }

  // REQUIRES: no item with its key is here.
  void insert(Item* item) {
    const Probe probe = probe_of(item->key());
    if (chunks_.empty()) chunks_[Bound{}].reserve(kChunkItemsMax);
    auto chunk = chunk_of(probe);
    Chunk& entries = chunk->second;
    entries.insert(lower_bound(entries, probe), Entry{probe.head, item});
    if (entries.size() == kChunkItemsMax) split(entries);
  }

  // REQUIRES: it is here.
  void erase(Item* item) {
    const Probe probe = probe_of(item->key());
    auto chunk = chunk_of(probe);
    Chunk& entries = chunk->second;
    auto at = lower_bound(entries, probe);
    TM_ASSERT(at != entries.end() && at->item == item);
    entries.erase(at);
    if (entries.empty()) {
      drop(chunk);
    } else if (entries.size() < kChunkItemsMin) {
      join_next(chunk);
    }
  }

  Place at_or_after(std::string_view key) const {
    if (chunks_.empty()) return {&chunks_, chunks_.end(), 0};
    const Probe probe = probe_of(key);
    auto chunk = chunk_of(probe);
    auto at = lower_bound(chunk->second, probe);
    if (at == chunk->second.end()) return {&chunks_, std::next(chunk), 0};
    return {&chunks_, chunk, static_cast<size_t>(at - chunk->second.begin())};
  }

  Place at_or_before(std::string_view key) const {
    Place out = at_or_after(key);
    if (out.valid() && std::string_view(out.item()->key()) == key) return out;
    if (out.valid()) {
      out.previous();
    } else if (!chunks_.empty()) {
      auto last = std::prev(chunks_.end());
      return {&chunks_, last, last->second.size() - 1};
    }
    return out;
  }

 private:
  static constexpr size_t kChunkItemsMax = 128;
  static constexpr size_t kChunkItemsMin = 24;

  static Probe probe_of(std::string_view key) {
    uint64_t head = 0;
    if (!key.empty()) std::memcpy(&head, key.data(), std::min(key.size(), sizeof head));
    if constexpr (std::endian::native == std::endian::little) head = __builtin_bswap64(head);
    return {head, key};
  }

  template <typename Entries>
  static auto lower_bound(Entries& entries, const Probe& probe) {
    return std::lower_bound(entries.begin(), entries.end(), probe, [](const Entry& entry, const Probe& than) {
      return entry.head != than.head ? entry.head < than.head
                                     : std::string_view(entry.item->key()) < than.key;
    });
  }

  // REQUIRES: there is one.
  template <typename Self>
  static auto chunk_in(Self& chunks, const Probe& probe) {
    return std::prev(chunks.upper_bound(probe));
  }
  auto chunk_of(const Probe& probe) { return chunk_in(chunks_, probe); }
  auto chunk_of(const Probe& probe) const { return chunk_in(chunks_, probe); }

  void split(Chunk& entries) {
    auto middle = entries.begin() + kChunkItemsMax / 2;
    Chunk& upper = chunks_[Bound{middle->head, std::string(middle->item->key())}];
    upper.reserve(kChunkItemsMax);
    upper.assign(middle, entries.end());
    entries.erase(middle, entries.end());
  }

  void drop(typename Chunks::iterator chunk) {
    const bool was_first = chunk == chunks_.begin();
    chunk = chunks_.erase(chunk);
    if (!was_first || chunk == chunks_.end()) return;
    auto first = chunks_.extract(chunk);
    first.key() = Bound{};
    chunks_.insert(std::move(first));
  }

  void join_next(typename Chunks::iterator chunk) {
    auto next = std::next(chunk);
    if (next == chunks_.end() || chunk->second.size() + next->second.size() > kChunkItemsMax / 2) return;
    chunk->second.insert(chunk->second.end(), next->second.begin(), next->second.end());
    chunks_.erase(next);
  }

  Chunks chunks_;
};

}  // namespace tidemark
