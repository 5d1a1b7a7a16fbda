// What a view should hold, computed from scratch, row by row, by the simplest code that can be right. It
// knows the workload's views as structs and shares nothing with sql/ and view_manager/: it is the oracle.
#pragma once

#include <map>
#include <string>

#include "tests/simulation/views.h"

namespace tidemark::sim {

// The rows of tables and of views already evaluated, by name.
using Database = std::map<std::string, Rows>;

// REQUIRES: what the view is over is in the database.
Rows evaluate(const ViewSpec& view, const Database& database);

}  // namespace tidemark::sim
