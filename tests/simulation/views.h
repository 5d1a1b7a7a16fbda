// The workload's own views, as structs: the cluster under test gets each as an SQL statement, the evaluator
// gets the struct. All tables have the columns id (the key), grp, val and stamp, all bigint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::sim {

enum class ViewKind : uint8_t {
  Copy,       // id, grp, val, stamp: one row per row.
  CopyAgain,  // Over Copy: the same once more.
  Large,      // id, twice its val, where val is above a limit.
  ByGroup,    // grp, id, val; distributed by grp.
  Counts,     // grp, count, sum of val.
  Total,      // count, sum of val: one row, without groups.
  Histogram,  // Over Counts: n, number of groups with that count.
  Extremes,   // grp, min, max, count distinct of val.
  Latest,     // grp, the id, val and stamp of the row with the highest stamp.
  Either,     // Union all of two tables: id, val.
  Pairs,      // Inner join by grp: both ids, sum of both vals.
  LeftPairs,  // Left join by grp: both ids, both vals.
  PairSums,   // Over Pairs: left id, count, sum of val.
};
const char* to_string(ViewKind kind);

struct ViewSpec {
  ViewKind kind = ViewKind::Copy;
  std::string name;
  std::string from;  // A table, or the view that it is over.
  std::string with;  // Joins and unions: the other table.
  int64_t limit = 15;

  bool is_over_view() const {
    return kind == ViewKind::CopyAgain || kind == ViewKind::Histogram || kind == ViewKind::PairSums;
  }
};

// CREATE MATERIALIZED VIEW ...
std::string statement_of(const ViewSpec& view);

using Value = std::optional<int64_t>;  // None: NULL.
using Row = std::vector<Value>;
using Rows = std::vector<Row>;  // A multiset: the order means nothing.

std::string to_string(const Row& row);

}  // namespace tidemark::sim
