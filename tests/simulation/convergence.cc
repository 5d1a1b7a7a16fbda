#include "tests/simulation/convergence.h"

#include <algorithm>

#include "proto/rows.h"

namespace tidemark::sim {

std::optional<Rows> Convergence::read(const std::string& table) {
  Rows out;
  for (std::optional<ScanPosition> at = ScanPosition{}; at;) {
    ScanSpec spec;
    spec.table = evidence_.tables.id(table);
    std::optional<Result<RowPage, ClientFailure>> page;
    evidence_.cluster.client().scan(spec, *at, [&](auto got) { page = std::move(got); });
    evidence_.cluster.run_until([&] { return page.has_value(); });
    if (!page || !page->ok()) return std::nullopt;
    StoredRow row;
    for (RowReader reader((*page)->rows); reader.next(row);) {
      if (auto decoded = evidence_.tables.decode(table, row.key, row.row)) out.push_back(*decoded);
    }
    at = (*page)->next;
  }
  return out;
}

std::string Convergence::compare(const std::string& table, Rows want) {
  auto have = read(table);
  if (!have) return table + " can not be read";
  std::sort(have->begin(), have->end());
  std::sort(want.begin(), want.end());
  if (*have == want) return "";
  Rows missing, wrong;
  std::set_difference(want.begin(), want.end(), have->begin(), have->end(), std::back_inserter(missing));
  std::set_difference(have->begin(), have->end(), want.begin(), want.end(), std::back_inserter(wrong));
  std::string out =
      table + " has " + std::to_string(have->size()) + " rows, should have " + std::to_string(want.size());
  if (!missing.empty()) out += "; missing " + to_string(missing.front());
  if (!wrong.empty()) out += "; wrong " + to_string(wrong.front());
  return out;
}

std::string Convergence::difference() {
  Database database;
  for (const char* table : {"a", "b"}) {
    Rows& rows = database[table];
    for (const auto& [key, row] : evidence_.history.rows(table)) rows.push_back(row);
    if (std::string wrong = compare(table, rows); !wrong.empty()) return wrong;
  }
  // Those over views come after what they are over.
  for (const ViewSpec& view : evidence_.views) database[view.name] = evaluate(view, database);
  for (const ViewSpec& view : evidence_.views) {
    if (std::string wrong = compare(view.name, database.at(view.name)); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace tidemark::sim
