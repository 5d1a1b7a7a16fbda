#include "tests/view_manager/sample_program.h"

#include <algorithm>

#include "base/assert.h"
#include "sql/types/key_encoding.h"
#include "sql/types/row_encoding.h"

namespace tidemark::sample {

namespace {

const sql::RowLayout& layout(size_t columns) {
  static const std::vector<sql::RowLayout> layouts = [] {
    std::vector<sql::RowLayout> out;
    std::vector<sql::TypeKind> kinds;
    for (size_t i = 0; i < 4; ++i) {
      out.emplace_back(kinds);
      kinds.push_back(sql::TypeKind::BigInt);
    }
    return out;
  }();
  return layouts[columns];
}

}  // namespace

std::string row_of(const Ints& values) {
  std::vector<sql::Value> row;
  for (int64_t value : values) row.push_back(sql::Value::bigint(value));
  std::string out;
  sql::append_row(layout(values.size()), row, out);
  return out;
}

Ints ints_of_row(std::string_view row, size_t columns) {
  sql::RowView view;
  TM_ASSERT(sql::RowView::parse(layout(columns), row, view).ok());
  Ints out;
  for (size_t i = 0; i < columns; ++i) out.push_back(view.get(i).as_int());
  return out;
}

std::string key_of(const Ints& values) {
  std::string out;
  for (int64_t value : values) sql::append_key(sql::Value::bigint(value), sql::SortOrder::Ascending, out);
  return out;
}

Ints ints_of_key(std::string_view key) {
  Ints out;
  sql::Arena arena;
  for (size_t at = 0; at < key.size();) {
    sql::Value value;
    TM_ASSERT(sql::read_key({sql::TypeKind::BigInt}, key, at, arena, value).ok());
    out.push_back(value.as_int());
  }
  return out;
}

size_t columns_of(TableId table) {
  return table == kIndex || table == kWords || table == kSideA || table == kSideB ? 1 : 2;
}

size_t distribution_of(TableId table) {
  return table == kJoin ? 2 : 1;
}

uint64_t hash_of(TableId table, const Ints& key) {
  return sql::distribution_hash(key_of(Ints(key.begin(), key.begin() + distribution_of(table))));
}

Ints tokens_of(int64_t value) {
  Ints out;
  for (int64_t i = 0; i < 2 + value % 5; ++i) out.push_back((value * 3 + i * i) % 17);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void SampleProgram::put(TableId table, const Ints& key, const Ints& row, EffectWriter& out) {
  out.put(table, hash_of(table, key), key_of(key), row_of(row));
}
void SampleProgram::erase(TableId table, const Ints& key, EffectWriter& out) {
  out.erase(table, hash_of(table, key), key_of(key));
}
void SampleProgram::add(TableId table, const Ints& key, const Ints& row, EffectWriter& out) {
  out.add(table, hash_of(table, key), key_of(key), row_of(row));
}

const sql::RowLayout& SampleProgram::sum_layout(TableId table) const {
  return layout(columns_of(table));
}

bool SampleProgram::effects_of(const Change& change, const RecordContext&, EffectWriter& out) {
  const TableId table = change.table;
  const Ints key = ints_of_key(change.key);
  std::optional<Ints> before, after;
  if (change.before) before = ints_of_row(*change.before, columns_of(table));
  if (change.after) after = ints_of_row(*change.after, columns_of(table));

  auto rekey = [&](TableId to, const std::map<Ints, Ints>& old, const std::map<Ints, Ints>& now) {
    for (const auto& [k, row] : old) {
      if (!now.contains(k)) erase(to, k, out);
    }
    for (const auto& [k, row] : now) put(to, k, row, out);
  };
  using Keyed = std::map<Ints, Ints>;

  if (table == kA) {
    if (before) add(kCounts, {before->at(0)}, {-1, -before->at(1)}, out);
    if (after) add(kCounts, {after->at(0)}, {1, after->at(1)}, out);
    auto indexed = [&](const std::optional<Ints>& row) {
      return row ? Keyed{{{row->at(1), key[0]}, {row->at(0)}}} : Keyed{};
    };
    rekey(kIndex, indexed(before), indexed(after));
  }
  if (table == kB) {
    auto words = [&](const std::optional<Ints>& row) {
      Keyed keyed;
      if (row) {
        for (int64_t token : tokens_of(row->at(1))) keyed[{token, key[0]}] = {1};
      }
      return keyed;
    };
    rekey(kWords, words(before), words(after));
  }
  if (table == kA || table == kB) {
    auto side = [&](const std::optional<Ints>& row) {
      return row ? Keyed{{{row->at(0), key[0]}, {row->at(1)}}} : Keyed{};
    };
    rekey(table == kA ? kSideA : kSideB, side(before), side(after));
  }
  if (table == kCounts) {
    if (before) add(kHistogram, {before->at(0) % 4}, {-1, -before->at(0)}, out);
    if (after) add(kHistogram, {after->at(0) % 4}, {1, after->at(0)}, out);
  }
  if (table == kSideA || table == kSideB) {
    MatchReader matches(change.matches);
    Match match;
    while (matches.next(match)) {
      int64_t other = ints_of_key(match.key).at(1);
      int64_t value = ints_of_row(match.row, 1).at(0);
      bool left = table == kSideA;
      Ints to = left ? Ints{key[1], other, key[0]} : Ints{other, key[1], key[0]};
      if (after) {
        put(kJoin, to, left ? Ints{after->at(0), value} : Ints{value, after->at(0)}, out);
      } else {
        erase(kJoin, to, out);
      }
    }
  }
  if (table == kJoin) {
    if (before) add(kJoined, {key[1] % 3}, {-1, -before->at(0) - before->at(1)}, out);
    if (after) add(kJoined, {key[1] % 3}, {1, after->at(0) + after->at(1)}, out);
  }
  return true;
}

std::map<TableId, Rows> evaluate(const Rows& a, const Rows& b) {
  std::map<TableId, Rows> out;
  auto add = [&](TableId table, const Ints& key, int64_t value) {
    Ints& row = out[table].try_emplace(key, Ints{0, 0}).first->second;
    row[0] += 1;
    row[1] += value;
  };
  for (const auto& [key, row] : a) {
    add(kCounts, {row[0]}, row[1]);
    out[kIndex][{row[1], key[0]}] = {row[0]};
    out[kSideA][{row[0], key[0]}] = {row[1]};
  }
  for (const auto& [key, row] : b) {
    for (int64_t token : tokens_of(row[1])) out[kWords][{token, key[0]}] = {1};
    out[kSideB][{row[0], key[0]}] = {row[1]};
  }
  for (const auto& [group, row] : Rows(out[kCounts])) add(kHistogram, {row[0] % 4}, row[0]);
  for (const auto& [ka, ra] : a) {
    for (const auto& [kb, rb] : b) {
      if (ra[0] != rb[0]) continue;
      out[kJoin][{ka[0], kb[0], ra[0]}] = {ra[1], rb[1]};
      add(kJoined, {kb[0] % 3}, ra[1] + rb[1]);
    }
  }
  return out;
}

}  // namespace tidemark::sample
