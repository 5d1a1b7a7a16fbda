#include "node/store/checkpoint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"

namespace tidemark {
namespace {

constexpr uint8_t kFormat = 1;

void put_reader(std::string& out, const ReaderState& reader) {
  put_varint(out, reader.next.value);
  put_u8(out, static_cast<uint8_t>((reader.incarnation ? 1 : 0) | (reader.sealed ? 2 : 0)));
  put_varint(out, reader.incarnation ? reader.incarnation->value : 0);
  put_varint(out, reader.fence_version.value);
}

ReaderState get_reader(ByteReader& in) {
  ReaderState out;
  out.next = Offset{in.varint()};
  uint8_t flags = in.u8();
  Offset incarnation{in.varint()};
  if (flags & 1) out.incarnation = incarnation;
  out.fence_version = MapVersion{in.varint()};
  out.sealed = (flags & 2) != 0;
  return out;
}

void put_readers(std::string& out, const std::vector<ReaderState>& readers) {
  put_varint(out, readers.size());
  for (const ReaderState& reader : readers) put_reader(out, reader);
}

std::vector<ReaderState> get_readers(ByteReader& in) {
  std::vector<ReaderState> out;
  for (uint64_t left = in.varint(); left > 0 && in.ok(); --left) out.push_back(get_reader(in));
  return out;
}

void put_shards(std::string& out, ShardRange shards, Generation generation) {
  put_varint(out, shards.begin.value);
  put_varint(out, shards.end.value);
  put_varint(out, generation.value);
}

}  // namespace

std::string encode_checkpoint(const Checkpoint& checkpoint) {
  std::string out;
  put_u8(out, kFormat);
  put_varint(out, checkpoint.region.value);
  put_shards(out, checkpoint.shards, checkpoint.generation);
  put_varint(out, checkpoint.map_version.value);
  put_varint(out, checkpoint.joined.value);
  put_reader(out, checkpoint.reader);
  put_readers(out, checkpoint.readers);
  put_varint(out, checkpoint.ancestors.size());
  for (const Ancestor& ancestor : checkpoint.ancestors) {
    put_varint(out, ancestor.region.value);
    put_shards(out, ancestor.shards, ancestor.generation);
    put_readers(out, ancestor.readers);
  }
  put_bytes(out, checkpoint.state);
  put_fixed64(out, XXH3_64bits(out.data(), out.size()));
  return out;
}

Result<Checkpoint> decode_checkpoint(std::string_view bytes) {
  if (bytes.size() < 9) return Error{"a checkpoint is too short"};
  ByteReader tail(bytes.substr(bytes.size() - 8));
  bytes.remove_suffix(8);
  if (tail.fixed64() != XXH3_64bits(bytes.data(), bytes.size())) {
    return Error{"a checkpoint's checksum is wrong"};
  }
  ByteReader in(bytes);
  uint8_t format = in.u8();
  if (format != kFormat) {
    return Error{"a checkpoint has format " + std::to_string(format) + ", this program reads " +
                 std::to_string(kFormat)};
  }
  Checkpoint out;
  out.region = RegionId{in.varint()};
  out.shards = {ShardId{in.varint32()}, ShardId{in.varint32()}};
  out.generation = Generation{in.varint32()};
  out.map_version = MapVersion{in.varint()};
  out.joined = MapVersion{in.varint()};
  out.reader = get_reader(in);
  out.readers = get_readers(in);
  for (uint64_t left = in.varint(); left > 0 && in.ok(); --left) {
    Ancestor ancestor;
    ancestor.region = RegionId{in.varint()};
    ancestor.shards = {ShardId{in.varint32()}, ShardId{in.varint32()}};
    ancestor.generation = Generation{in.varint32()};
    ancestor.readers = get_readers(in);
    out.ancestors.push_back(std::move(ancestor));
  }
  out.state = std::string(in.bytes());
  if (!in.ok() || !in.done()) return Error{"a checkpoint is malformed"};
  return out;
}

}  // namespace tidemark
