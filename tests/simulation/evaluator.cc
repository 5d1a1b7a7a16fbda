#include "tests/simulation/evaluator.h"

#include <algorithm>
#include <set>

#include "base/assert.h"

namespace tidemark::sim {
namespace {

enum Column : size_t { kId, kGroup, kValue, kStamp };

int64_t number(const Row& row, size_t column) {
  return *row[column];
}

// Rows of one group, by the value of a column.
std::map<int64_t, Rows> grouped(const Rows& rows, size_t column) {
  std::map<int64_t, Rows> groups;
  for (const Row& row : rows) groups[number(row, column)].push_back(row);
  return groups;
}

int64_t sum(const Rows& rows, size_t column) {
  int64_t total = 0;
  for (const Row& row : rows) total += number(row, column);
  return total;
}

int64_t count(const Rows& rows) {
  return static_cast<int64_t>(rows.size());
}

Rows counts(const Rows& rows, size_t group, size_t value) {
  Rows out;
  for (const auto& [key, members] : grouped(rows, group))
    out.push_back({key, count(members), sum(members, value)});
  return out;
}

Rows extremes(const Rows& rows) {
  Rows out;
  for (const auto& [group, members] : grouped(rows, kGroup)) {
    std::set<int64_t> values;
    for (const Row& row : members) values.insert(number(row, kValue));
    out.push_back({group, *values.begin(), *values.rbegin(), static_cast<int64_t>(values.size())});
  }
  return out;
}

Rows latest(const Rows& rows) {
  Rows out;
  for (const auto& [group, members] : grouped(rows, kGroup)) {
    const Row* newest = &members.front();
    for (const Row& row : members) {
      if (number(row, kStamp) > number(*newest, kStamp)) newest = &row;
    }
    out.push_back({group, (*newest)[kId], (*newest)[kValue], (*newest)[kStamp]});
  }
  return out;
}

Rows pairs(const Rows& left, const Rows& right, bool keeps_lonely, bool adds) {
  Rows out;
  for (const Row& l : left) {
    bool lonely = true;
    for (const Row& r : right) {
      if (l[kGroup] != r[kGroup]) continue;
      lonely = false;
      if (adds) {
        out.push_back({l[kId], r[kId], number(l, kValue) + number(r, kValue)});
      } else {
        out.push_back({l[kId], r[kId], l[kValue], r[kValue]});
      }
    }
    if (lonely && keeps_lonely) out.push_back({l[kId], {}, l[kValue], {}});
  }
  return out;
}

}  // namespace

Rows evaluate(const ViewSpec& view, const Database& database) {
  const Rows& rows = database.at(view.from);
  Rows out;
  switch (view.kind) {
    case ViewKind::Copy:
    case ViewKind::CopyAgain: return rows;
    case ViewKind::Large:
      for (const Row& row : rows) {
        if (number(row, kValue) > view.limit) out.push_back({row[kId], 2 * number(row, kValue)});
      }
      return out;
    case ViewKind::ByGroup:
      for (const Row& row : rows) out.push_back({row[kGroup], row[kId], row[kValue]});
      return out;
    case ViewKind::Counts: return counts(rows, kGroup, kValue);
    case ViewKind::Total: return {{count(rows), rows.empty() ? Value{} : Value{sum(rows, kValue)}}};
    case ViewKind::Histogram:
      for (const auto& [n, members] : grouped(rows, 1)) out.push_back({n, count(members)});
      return out;
    case ViewKind::Extremes: return extremes(rows);
    case ViewKind::Latest: return latest(rows);
    case ViewKind::Either:
      for (const Rows* side : {&rows, &database.at(view.with)}) {
        for (const Row& row : *side) out.push_back({row[kId], row[kValue]});
      }
      return out;
    case ViewKind::Pairs: return pairs(rows, database.at(view.with), false, true);
    case ViewKind::LeftPairs: return pairs(rows, database.at(view.with), true, false);
    case ViewKind::PairSums: return counts(rows, 0, 2);
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark::sim
