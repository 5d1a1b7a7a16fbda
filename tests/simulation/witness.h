// Sees every record that becomes durable in any stream, and decides by a reader's rule of its own which ones
// count. It forgets nothing: not what was trimmed, nor streams that are gone. What it knows is the truth that
// checkers compare the system with.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/scheduler.h"
#include "base/types.h"
#include "proto/log.pb.h"
#include "wal/memory_log.h"
#include "wal/record.h"

namespace tidemark::sim {

// A record as it lies in its stream.
struct SeenRecord {
  StreamId stream;
  Offset at;
  RecordHeader header;
  bool counts = false;
  std::shared_ptr<const pb::RecordBody> body;  // Of a Body that counts.
  std::shared_ptr<const pb::Seal> seal;        // Of a Seal that counts.
};

struct SeenStream {
  RegionId region;
  Generation generation;
  std::vector<SeenRecord> records;  // By offset.
  Offset trimmed_to;
  bool removed = false;
  // The rule's state.
  std::optional<Offset> incarnation;
  MapVersion fence_version;
  bool sealed = false;
};

class Witness : public MemoryLogObserver {
 public:
  struct Listener {
    std::function<void(const SeenRecord&)> on_record;
    std::function<void(const SeenStream&, Offset begin)> on_trimmed;  // Not yet noted in the stream.
    std::function<void(const SeenStream&)> on_removed;
  };
  explicit Witness(Listener listener) : listener_(std::move(listener)) {}

  const SeenStream* find(RegionId region) const;
  const std::map<RegionId, SeenStream>& streams() const { return streams_; }
  uint64_t record_count() const { return record_count_; }
  // Of all bytes in all logs, in the order in which they came.
  uint64_t hash() const { return hash_; }

 private:
  void on_durable(StreamId stream, Offset at, const std::string& bytes) override;
  void on_trimmed(StreamId stream, Offset begin) override;
  void on_removed(StreamId stream) override;

  bool judge(SeenStream& stream, const SeenRecord& record) const;
  void add_to_hash(std::string_view bytes);

  Listener listener_;
  std::map<RegionId, SeenStream> streams_;
  std::map<RegionId, Generation> born_;  // By the seals of their parents.
  uint64_t record_count_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace tidemark::sim
