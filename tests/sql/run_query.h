// Our answers, in the form of the oracle's.
#pragma once

#include <string>

#include "sql/catalog.h"
#include "sql/execute/select_execution.h"
#include "tests/sql/oracle.h"

namespace tidemark::sql::testing {

Answer refused(const SqlError& error);

// Parses, binds and runs one SELECT. A source that has nothing yet is asked again.
Answer run_query(const std::string& sql, const Catalog& catalog, RowSource& source,
                 const ExecutionSettings& settings = {});

}  // namespace tidemark::sql::testing
