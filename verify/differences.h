// The rows in which views differ from what they should be, round by round, in SQLite. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "verify/sqlite.h"

namespace tidemark::verify {

struct Difference {
  std::string row;  // Encoded.
  int64_t expected;
  int64_t found;
};

class Differences {
 public:
  explicit Differences(Database& database) : database_(database) {}
  Status open();

  // One comparison: every row of both sides, in any order, then the number of rows that differ. They are kept
  // as `round` of the view.
  Status begin();
  Status expected(const std::string& row) { return add(row, 1, 0); }
  Status found(const std::string& row) { return add(row, 0, 1); }
  Result<int64_t> finish(const std::string& view, int round);

  // Rows that differ in the same way in all rounds from `first` to `last`; at most `limit` of them.
  Result<std::vector<Difference>> in_all(const std::string& view, int first, int last, int64_t limit);
  Result<int64_t> count_in_all(const std::string& view, int first, int last);

 private:
  Status add(const std::string& row, int64_t expected, int64_t found);

  Database& database_;
  std::unique_ptr<Statement> insert_;
};

}  // namespace tidemark::verify
