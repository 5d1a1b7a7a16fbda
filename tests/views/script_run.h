// Runs a script twice, by maintained views and by PostgreSQL, and compares all views after each batch.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/sql/oracle.h"
#include "tests/views/maintained_views.h"

namespace tidemark::views {

struct RunResult {
  std::string difference;              // Empty: none.
  int compared = 0;                    // Views, each time.
  int rows = 0;                        // Of them.
  std::map<std::string, int> refused;  // Reasons, for views that PostgreSQL takes.
};

RunResult run_script(const Script& script, MaintainedViews& views, sql::testing::Oracle& oracle);

// Rows of an answer as MaintainedViews::read() gives them.
Lines lines_of(const sql::testing::Answer& answer);

using MakeViews = std::function<std::unique_ptr<MaintainedViews>()>;

// The shortest script found that still differs, by leaving out steps. REQUIRES: `script` differs.
Script shrink(const Script& script, const MakeViews& make, sql::testing::Oracle& oracle);

}  // namespace tidemark::views
