// How far the lanes of a stream are behind its changes, in records and in time, for all tables and for each.
// Remembers when the changes that some lane has not committed yet were written: as runs of records, whose
// number is bounded. Beyond it neighbours are taken together, and a run that is partly committed counts as
// old as its first record: figures are never too low.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace tidemark {

// Some tables, told apart by their ids modulo 64: one that is not in it may seem to be, never the other way.
struct TableSet {
  static constexpr size_t kClasses = 64;
  uint64_t bits = 0;
  static TableSet all() { return {~uint64_t{0}}; }
  static size_t class_of(TableId table) { return table.value % kClasses; }
  void add(TableId table) { bits |= uint64_t{1} << class_of(table); }
  bool overlaps(TableSet other) const { return (bits & other.bits) != 0; }
};

struct Lag {
  uint64_t records = 0;  // From the oldest record with a change not committed to the newest with one.
  int64_t micros = 0;    // The age of the oldest.
  bool operator==(const Lag&) const = default;
};

// Every lane has committed all changes before it; the lane is the furthest behind, or one of them.
struct LaneFloor {
  Offset floor;
  ShardId lane;
};

class LagMeter {
 public:
  static constexpr size_t kRunsMax = 256;

  // The record has changes of these tables. REQUIRES: offsets come in order.
  void note(Offset at, int64_t written_at_micros, TableSet tables);
  // Records [begin, end) have changes, it is not known which; they are no younger than this.
  void note_unknown(Offset begin, Offset end, int64_t written_at_micros);
  // Every lane has committed all before it.
  void forget_before(Offset floor);

  // Zero: every lane has committed past the last change of such a table. REQUIRES: floor as last forgotten,
  // or higher.
  Lag lag(TableSet tables, Offset floor, int64_t now_micros) const;

  size_t runs() const { return runs_.size(); }

 private:
  struct Run {
    Offset first;
    Offset last;
    int64_t written_at_micros = 0;  // Of the first.
    TableSet tables;
  };
  void add(const Run& run);
  void take_together();

  std::vector<Run> runs_;
};

}  // namespace tidemark
