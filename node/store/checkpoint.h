// What a node keeps of one region beside its rows. Rows may be ahead of it, never behind: replaying the
// stream from `reader` writes them again.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "wal/reader_rule.h"

namespace tidemark {

// A stream whose tail some lanes of the region still need: its parent, or a parent's parent.
struct Ancestor {
  RegionId region;
  ShardRange shards;
  Generation generation;
  std::vector<ReaderState> readers;  // Places where a reader may start, in order.
  bool operator==(const Ancestor&) const = default;
};

struct Checkpoint {
  RegionId region;
  ShardRange shards;
  Generation generation;
  MapVersion map_version;            // Of the newest map acted upon; an older one is ignored.
  MapVersion joined;                 // The membership it belongs to.
  ReaderState reader;                // Where to go on reading.
  std::vector<ReaderState> readers;  // Earlier places where a reader may start, in order.
  std::vector<Ancestor> ancestors;
  std::string state;  // The region's; see region/.
  bool operator==(const Checkpoint&) const = default;

  // From where on whoever has this checkpoint needs the log: to replay it, and for queues that begin at a
  // committed position. A reader starts only where the fence in force is known, which may be earlier.
  Offset log_needed_from() const {
    return readers.empty() ? Offset{0} : std::min(readers.front().next, reader.next);
  }
};

// Versioned and checksummed.
std::string encode_checkpoint(const Checkpoint& checkpoint);
Result<Checkpoint> decode_checkpoint(std::string_view bytes);

}  // namespace tidemark
