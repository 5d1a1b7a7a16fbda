// A query in PostgreSQL's language, as a query in SQLite's with the functions of functions.h. Names are
// resolved and types inferred here, by rules written from PostgreSQL's documentation: nothing of sql/ is
// used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "verify/tree.h"
#include "verify/types.h"

namespace tidemark::verify {

struct Column {
  std::string name;
  Type type;
};

// A table in SQLite: columns c1, c2, ..., and hidden ones k1, k2, ... that identify a row, if known.
struct Table {
  std::string name;         // As queries say it.
  std::string sqlite_name;  // As SQLite knows it.
  std::vector<Column> columns;
  // How many hidden columns there are. None: what decides between equal rows of a top-k over this is not
  // known.
  std::optional<size_t> identity;
};

struct Translation {
  std::string sql;  // Gives c1, c2, ..., k1, k2, ...
  std::vector<Column> columns;
  std::optional<size_t> identity;
  // Queries that give a row if which rows a LIMIT keeps depends on the order of equal rows.
  std::vector<std::string> tie_probes;
};

// An error says what the query has that can not be translated.
Result<Translation> translate(const ParsedQuery& query, const std::vector<Table>& tables);

// A name or a text, as SQLite reads it.
std::string quoted(std::string_view text);

}  // namespace tidemark::verify
