#include "tests/simulation/witness.h"

#include <cstring>

#include "base/assert.h"

namespace tidemark::sim {

const SeenStream* Witness::find(RegionId region) const {
  const auto it = streams_.find(region);
  return it == streams_.end() ? nullptr : &it->second;
}

void Witness::add_to_hash(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
  }
}

// docs/design.md, "Fencing in the log": a record counts if its fence is the last one that counts before it
// and it lies where it expects to; one that does not ends the incarnation; nothing after a seal counts.
bool Witness::judge(SeenStream& stream, const SeenRecord& record) const {
  const RecordHeader& header = record.header;
  if (stream.sealed) return false;
  if (header.kind == RecordKind::Fence) {
    const bool counts = !(header.map_version < stream.fence_version);
    if (counts) stream.fence_version = header.map_version;
    stream.incarnation = counts ? std::optional(record.at) : std::nullopt;
    return counts;
  }
  const bool counts =
      stream.incarnation && *stream.incarnation == header.incarnation && header.expects == record.at;
  if (!counts) stream.incarnation.reset();
  if (counts && header.kind == RecordKind::Seal) stream.sealed = true;
  return counts;
}

void Witness::on_durable(StreamId id, Offset at, const std::string& bytes) {
  SeenStream& stream = streams_[id.region];
  if (stream.records.empty()) {
    stream.region = id.region;
    const auto born = born_.find(id.region);
    if (born != born_.end()) stream.generation = born->second;
  }
  TM_ASSERT(at.value == stream.records.size(), id, at);
  auto decoded = decode_record(bytes);
  TM_ASSERT(decoded.ok(), id, at);
  SeenRecord record{id, at, decoded->header, false, nullptr, nullptr};
  record.counts = judge(stream, record);
  if (record.counts && record.header.kind == RecordKind::Body) {
    auto body = std::make_shared<pb::RecordBody>();
    TM_ASSERT(body->ParseFromString(decoded->payload), id, at);
    record.body = std::move(body);
  } else if (record.counts && record.header.kind == RecordKind::Seal) {
    auto seal = std::make_shared<pb::Seal>();
    TM_ASSERT(seal->ParseFromString(decoded->payload), id, at);
    for (const auto& child : seal->children())
      born_[RegionId{child.region()}] = Generation{seal->generation()};
    record.seal = std::move(seal);
  }
  ++record_count_;
  add_to_hash(bytes);
  stream.records.push_back(std::move(record));
  if (listener_.on_record) listener_.on_record(stream.records.back());
}

void Witness::on_trimmed(StreamId id, Offset begin) {
  SeenStream& stream = streams_[id.region];
  if (begin <= stream.trimmed_to) return;
  if (listener_.on_trimmed) listener_.on_trimmed(stream, begin);
  stream.trimmed_to = begin;
}

void Witness::on_removed(StreamId id) {
  SeenStream& stream = streams_[id.region];
  stream.region = id.region;
  if (listener_.on_removed) listener_.on_removed(stream);
  stream.removed = true;
}

}  // namespace tidemark::sim
