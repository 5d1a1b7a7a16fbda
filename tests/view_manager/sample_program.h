// A handful of views written by hand, with rows of bigints: what the worlds of these tests keep up to date.
//
//   a, b       base tables: key (id), row (grp, val)
//   counts     SUM from a, by grp: (count, sum of val)
//   histogram  SUM from counts, by count modulo 4: (rows, sum of counts)
//   index_a    PUT from a, by (val | id): (grp)
//   words      PUT from b, by (token of val | id): (1)
//   side_a/b   JOIN_SIDE from a and b, by (grp | id): (val)
//   join       PUT from the sides, by (a id, b id | grp): (a val, b val)
//   joined     SUM from join, by b id modulo 3: (count, sum of both vals)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "view_manager/effect_program.h"

namespace tidemark::sample {

inline constexpr TableId kA{1}, kB{2};
inline constexpr TableId kCounts{10}, kHistogram{11}, kIndex{12}, kWords{13};
inline constexpr TableId kSideA{14}, kSideB{15}, kJoin{16}, kJoined{17};

using Ints = std::vector<int64_t>;
std::string row_of(const Ints& values);
Ints ints_of_row(std::string_view row, size_t columns);
std::string key_of(const Ints& values);
Ints ints_of_key(std::string_view key);
size_t columns_of(TableId table);
// How many of the key's columns are hashed.
size_t distribution_of(TableId table);
uint64_t hash_of(TableId table, const Ints& key);

Ints tokens_of(int64_t value);

class SampleProgram : public EffectProgram {
 public:
  CatalogVersion known{1};  // Records of later versions wait.

  bool knows(CatalogVersion version) const override { return version <= known; }
  bool effects_of(const Change& change, const RecordContext& context, EffectWriter& out) override;
  void end_of_backfill(const RecordContext&, EffectWriter&) override {}
  const sql::RowLayout& sum_layout(TableId table) const override;

 private:
  void put(TableId table, const Ints& key, const Ints& row, EffectWriter& out);
  void erase(TableId table, const Ints& key, EffectWriter& out);
  void add(TableId table, const Ints& key, const Ints& row, EffectWriter& out);
};

// Every view from the rows of a and b, from scratch.
using Rows = std::map<Ints, Ints>;
std::map<TableId, Rows> evaluate(const Rows& a, const Rows& b);

}  // namespace tidemark::sample
