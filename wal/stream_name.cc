#include "wal/stream_name.h"

#include <charconv>
#include <cinttypes>
#include <cstdio>

namespace tidemark {
namespace {

constexpr size_t kClusterDigits = 16;

bool parse_whole(std::string_view text, int base, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string stream_name(StreamId stream) {
  char cluster[kClusterDigits + 1];
  std::snprintf(cluster, sizeof cluster, "%016" PRIx64, stream.cluster);
  return std::string(cluster) + "-" + std::to_string(stream.region.value);
}

Result<StreamId> parse_stream_name(std::string_view name) {
  StreamId stream;
  if (name.size() > kClusterDigits + 1 && name[kClusterDigits] == '-' &&
      parse_whole(name.substr(0, kClusterDigits), 16, stream.cluster) &&
      parse_whole(name.substr(kClusterDigits + 1), 10, stream.region.value) && stream_name(stream) == name) {
    return stream;
  }
  return Error{"'" + std::string(name) + "' is not a stream's name (such as 000000000000002a-7)"};
}

}  // namespace tidemark
