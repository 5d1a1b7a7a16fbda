#include "wal/reader_rule.h"

#include "base/mutation.h"
#include "base/probe.h"
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
  if (state_.sealed && !TM_MUTATION("records after a seal count")) return Verdict::VoidSealed;
  if (header.kind == RecordKind::Fence) {
    if (TM_MUTATION("fences of older maps count")) return Verdict::Valid;
    return header.map_version >= state_.fence_version ? Verdict::Valid : Verdict::VoidOldFence;
  }
  const bool forgets = TM_MUTATION("a reader starts without the fence in force") && !state_.incarnation;
  if (state_.incarnation != header.incarnation && !forgets && !TM_MUTATION("no fence check by readers"))
    return Verdict::VoidIncarnation;
  if (TM_MUTATION("no offset check by readers")) return Verdict::Valid;
  if (TM_MUTATION("duplicates of the same incarnation accepted") && header.expects < state_.next)
    return Verdict::Valid;
  return header.expects == state_.next ? Verdict::Valid : Verdict::VoidOffset;
}

Result<Verdict> ReaderRule::step(const RecordHeader& header) {
  if (header.stream != stream_) {
    return Error{"the record at offset " + std::to_string(state_.next.value) + " belongs to stream " +
                 stream_name(header.stream) + ", not to " + stream_name(stream_)};
  }
  const Verdict verdict = judge(header);
  if (verdict != Verdict::Valid) {
    if (verdict == Verdict::VoidOldFence) TM_PROBE("reader: a fence of an older map");
    if (verdict == Verdict::VoidOffset) TM_PROBE("reader: a record elsewhere than it expects");
    if (verdict == Verdict::VoidIncarnation) TM_PROBE("reader: a record of an ended incarnation");
    if (!TM_MUTATION("a void record does not end the incarnation")) state_.incarnation.reset();
  } else if (header.kind == RecordKind::Fence) {
    state_.incarnation = state_.next;
    state_.fence_version = header.map_version;
  } else if (header.kind == RecordKind::Seal) {
    state_.sealed = true;
    if (!TM_MUTATION("records after a seal count")) state_.incarnation.reset();
  }
  ++state_.next.value;
  return verdict;
}

}  // namespace tidemark
