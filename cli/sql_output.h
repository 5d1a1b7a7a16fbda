// Results of a query for people and for programs.
#pragma once

#include <libpq-fe.h>

#include <string>

namespace tidemark {

// Aligned columns under their names, and the number of rows.
std::string rows_as_table(const PGresult* result);
// One object a row, a row a line. Numbers and booleans are JSON's where JSON can hold them.
std::string rows_as_json(const PGresult* result);
// A string as JSON, with its quotes.
std::string json_string(std::string_view text);

}  // namespace tidemark
