// A stream read without any code of wal/: the bytes as docs/formats.md describes them, and validity by its
// definition, each record on its own from the whole log before it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

struct RawRecord {
  enum Kind : uint8_t { Fence = 1, Body = 2, Seal = 3 };
  uint8_t kind = 0;
  uint64_t incarnation = 0;
  uint64_t expects = 0;
  uint64_t map_version = 0;
  std::string payload;
  bool is_valid = false;
};

class RawStream {
 public:
  // The next record of the log; the stream must begin at offset 0, and payloads must not be compressed.
  void add(std::string_view bytes) {
    RawRecord record;
    record.kind = static_cast<uint8_t>(bytes.at(13));
    record.incarnation = number(bytes, 32);
    record.expects = number(bytes, 40);
    record.map_version = number(bytes, 48);
    record.payload = bytes.substr(68);
    records_.push_back(std::move(record));
    RawRecord& added = records_.back();
    const bool is_fence = added.kind == RawRecord::Fence;
    added.is_valid = is_valid(records_.size() - 1);
    if (added.is_valid && is_fence) highest_version_ = added.map_version;
    if (added.is_valid && added.kind == RawRecord::Seal) sealed_ = true;
    breaks_.push_back(breaks_.back() + (added.is_valid && !is_fence ? 0 : 1));
  }
  const std::vector<RawRecord>& records() const { return records_; }

 private:
  static uint64_t number(std::string_view bytes, size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.substr(at, 8).data(), 8);
    return value;
  }

  bool is_valid(size_t at) const {
    const RawRecord& record = records_[at];
    if (sealed_) return false;
    if (record.kind == RawRecord::Fence) return record.map_version >= highest_version_;
    const size_t begin = record.incarnation;
    if (begin >= at || record.expects != at) return false;
    if (records_[begin].kind != RawRecord::Fence || !records_[begin].is_valid) return false;
    return breaks_[at] == breaks_[begin + 1];  // Nothing but valid bodies between its fence and it.
  }

  uint64_t highest_version_ = 0;
  bool sealed_ = false;
  std::vector<size_t> breaks_ = {0};  // How many of the first n records are fences or void.
  std::vector<RawRecord> records_;
};

}  // namespace tidemark
