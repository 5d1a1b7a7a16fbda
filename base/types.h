// The domain's quantities, each a type of its own: no call takes two bare integers.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>

namespace tidemark {

// TM_QUANTITY(Name, representation): an ordered, printable, hashable-by-value wrapper.
#define TM_QUANTITY(Name, Rep)                                         \
  struct Name {                                                        \
    Rep value{};                                                       \
    auto operator<=>(const Name&) const = default;                     \
  };                                                                   \
  inline std::ostream& operator<<(std::ostream& out, const Name& it) { \
    return out << it.value;                                            \
  }

TM_QUANTITY(ShardId, uint32_t)         // One of Q equal pieces of the 64-bit hash space; also names its lane.
TM_QUANTITY(RegionId, uint64_t)        // Never reused.
TM_QUANTITY(TableId, uint32_t)         // Never reused.
TM_QUANTITY(Generation, uint32_t)      // Grows when a split or merge moves a shard to another stream.
TM_QUANTITY(Offset, uint64_t)          // Of a record in a WAL stream; dense.
TM_QUANTITY(RingVersion, uint64_t)     // Of shard -> view manager.
TM_QUANTITY(MapVersion, uint64_t)      // Of the region map.
TM_QUANTITY(CatalogVersion, uint64_t)  // Of the tables and views.
TM_QUANTITY(ChangeId, uint64_t)        // Of a split or merge; never reused.
TM_QUANTITY(NodeId, std::string)       // A storage node's name, given by its operator.
TM_QUANTITY(ViewManagerId, std::string)  // A view manager's identity: survives the process that bears it.
TM_QUANTITY(Micros, int64_t)             // A span of time. Cores get time as events only.

// A half-open range of shards.
struct ShardRange {
  ShardId begin;
  ShardId end;
  auto operator<=>(const ShardRange&) const = default;

  bool contains(ShardId shard) const { return begin <= shard && shard < end; }
  bool contains(const ShardRange& other) const { return begin <= other.begin && other.end <= end; }
  bool overlaps(const ShardRange& other) const { return begin < other.end && other.begin < end; }
  bool empty() const { return end <= begin; }
  uint32_t size() const { return empty() ? 0 : end.value - begin.value; }
};
inline std::ostream& operator<<(std::ostream& out, const ShardRange& it) {
  return out << '[' << it.begin << ',' << it.end << ')';
}

// The shards of a cluster: Q, a power of two, fixed for its life.
struct ShardCount {
  uint32_t value = 16384;
  auto operator<=>(const ShardCount&) const = default;

  ShardId shard_of(uint64_t hash) const {
    return ShardId{value <= 1 ? 0 : static_cast<uint32_t>(hash >> (64 - std::countr_zero(value)))};
  }
  // The lowest hash of the shard. REQUIRES: the shard is one of them.
  uint64_t first_hash(ShardId shard) const {
    return value <= 1 ? 0 : uint64_t{shard.value} << (64 - std::countr_zero(value));
  }
  ShardRange all() const { return {ShardId{0}, ShardId{value}}; }
};

// A position in a lane names the next thing to do: everything before it is done. The step counts the
// effects of one record on one lane, in order, so that a batch may end inside a record.
struct Position {
  Generation generation;
  Offset offset;
  uint32_t step = 0;
  auto operator<=>(const Position&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Position& it) {
  return out << '(' << it.generation << ',' << it.offset << ',' << it.step << ')';
}

// A WAL stream: the region's log in one cluster. Records carry it, so that a log that was swapped,
// restored from elsewhere or made by another cluster is refused.
struct StreamId {
  uint64_t cluster = 0;
  RegionId region;
  auto operator<=>(const StreamId&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const StreamId& it) {
  return out << it.cluster << '/' << it.region;
}

}  // namespace tidemark
