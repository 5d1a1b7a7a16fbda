#include "wal/reader_rule.h"

#include "wal/stream_name.h"

namespace tidemark {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Valid: return "valid";
    case Verdict::VoidSealed: return "after the seal";
    case Verdict::VoidOldFence: return "a fence of an older region map";
    case Verdict::VoidIncarnation: return "its incarnation is not in force";
    case Verdict::VoidOffset: return "it lies elsewhere than it expects";
  }
  TM_UNREACHABLE();
}

Verdict ReaderRule::judge(const RecordHeader& header) const {
  if (state_.sealed) return Verdict::VoidSealed;
  if (header.kind == RecordKind::Fence) {
    return header.map_version >= state_.fence_version ? Verdict::Valid : Verdict::VoidOldFence;
  }
  if (state_.incarnation != header.incarnation) return Verdict::VoidIncarnation;
  return header.expects == state_.next ? Verdict::Valid : Verdict::VoidOffset;
}

Result<Verdict> ReaderRule::step(const RecordHeader& header) {
  if (header.stream != stream_) {
    return Error{"the record at offset " + std::to_string(state_.next.value) + " belongs to stream " +
                 stream_name(header.stream) + ", not to " + stream_name(stream_)};
  }
  const Verdict verdict = judge(header);
  if (verdict != Verdict::Valid) {
    state_.incarnation.reset();
  } else if (header.kind == RecordKind::Fence) {
    state_.incarnation = state_.next;
    state_.fence_version = header.map_version;
  } else if (header.kind == RecordKind::Seal) {
    state_.sealed = true;
    state_.incarnation.reset();
  }
  ++state_.next.value;
  return verdict;
}

}  // namespace tidemark
