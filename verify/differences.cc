#include "verify/differences.h"

#include "verify/try.h"

namespace tidemark::verify {

namespace {

std::string common_rows(int first, int last) {
  return " FROM differing WHERE view = ? AND round BETWEEN " + std::to_string(first) + " AND " +
         std::to_string(last) +
         " GROUP BY row, expected > found HAVING count(*) = " + std::to_string(last - first + 1);
}

}  // namespace

Status Differences::open() {
  return database_.run("CREATE TABLE differing (view, round, row, expected, found)");
}

Status Differences::begin() {
  insert_.reset();
  TM_TRY(database_.run("DROP TABLE IF EXISTS both"));
  TM_TRY(database_.run("CREATE TABLE both (row, expected, found)"));
  TM_ASSIGN(Statement insert, database_.prepare("INSERT INTO both VALUES (?, ?, ?)"));
  insert_ = std::make_unique<Statement>(std::move(insert));
  return database_.run("BEGIN");
}

Status Differences::add(const std::string& row, int64_t expected, int64_t found) {
  insert_->bind(0, Blob{row});
  insert_->bind(1, expected);
  insert_->bind(2, found);
  const Result<bool> stepped = insert_->step();
  insert_->reset();
  return stepped.ok() ? Status() : stepped.error();
}

Result<int64_t> Differences::finish(const std::string& view, int round) {
  TM_TRY(database_.run("COMMIT"));
  TM_ASSIGN(Statement keep,
            database_.prepare("INSERT INTO differing SELECT ?, ?, row, sum(expected), sum(found) FROM both "
                              "GROUP BY row HAVING sum(expected) <> sum(found)"));
  keep.bind(0, view);
  keep.bind(1, int64_t{round});
  TM_ASSIGN(bool more, keep.step());
  if (more) return Error{"an INSERT gave rows"};
  insert_.reset();
  TM_TRY(database_.run("DROP TABLE both"));
  return count_in_all(view, round, round);
}

Result<std::vector<Difference>> Differences::in_all(const std::string& view, int first, int last,
                                                    int64_t limit) {
  // The newest round's numbers.
  TM_ASSIGN(Statement select,
            database_.prepare("SELECT row, max(round), expected, found" + common_rows(first, last) +
                              " ORDER BY row LIMIT " + std::to_string(limit)));
  select.bind(0, view);
  std::vector<Difference> out;
  for (;;) {
    TM_ASSIGN(bool more, select.step());
    if (!more) return out;
    out.push_back({std::get<Blob>(select.column(0)).bytes, std::get<int64_t>(select.column(2)),
                   std::get<int64_t>(select.column(3))});
  }
}

Result<int64_t> Differences::count_in_all(const std::string& view, int first, int last) {
  TM_ASSIGN(Statement select,
            database_.prepare("SELECT count(*) FROM (SELECT row" + common_rows(first, last) + ")"));
  select.bind(0, view);
  TM_ASSIGN(bool found, select.step());
  if (!found) return int64_t{0};
  return std::get<int64_t>(select.column(0));
}

}  // namespace tidemark::verify
