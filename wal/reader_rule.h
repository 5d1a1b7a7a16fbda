// The one rule by which every reader of a stream (owner, standby, router, checker) tells the records that
// count from those that do not. Pure.
#pragma once

#include <optional>

#include "base/result.h"
#include "wal/record.h"

namespace tidemark {

// Where a reader stands. Checkpoints and progress records carry one: a reader may start only with the
// fence in force, else it would believe the first incarnation it meets.
struct ReaderState {
  Offset next{};                        // Of the next record to judge.
  std::optional<Offset> incarnation{};  // The fence in force; none before the first, or when it has ended.
  MapVersion fence_version{};           // The highest map version of a valid fence so far.
  bool sealed = false;                  // Nothing after a seal counts.
  auto operator<=>(const ReaderState&) const = default;
};

enum class Verdict : uint8_t {
  Valid,
  VoidSealed,       // It lies after a seal.
  VoidOldFence,     // A fence of an older region map.
  VoidIncarnation,  // Its fence is not the one in force.
  VoidOffset,       // It does not lie where it expects to.
};
const char* to_string(Verdict verdict);

class ReaderRule {
 public:
  explicit ReaderRule(StreamId stream, ReaderState state = {}) : stream_(stream), state_(state) {}

  const ReaderState& state() const { return state_; }

  // Judges the record at state().next and moves on. A void record, whoever wrote it, ends the incarnation in
  // force: all is void until the next valid fence. It must: where it lies, the owner meant something else to
  // lie, and if that was lost, what the owner sent after it would lie where it expects to.
  // Error: the record belongs to another stream; the log must be refused, and the state is as before.
  Result<Verdict> step(const RecordHeader& header);

 private:
  Verdict judge(const RecordHeader& header) const;

  StreamId stream_;
  ReaderState state_;
};

}  // namespace tidemark
