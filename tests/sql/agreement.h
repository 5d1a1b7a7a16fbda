// When our answer and PostgreSQL's count as the same. Whatever the oracles let differ is here, with its
// reason.
#pragma once

#include <cstdint>

#include "tests/sql/oracle.h"

namespace tidemark::sql::testing {

// How far the plan decides what is computed, and so which mistakes are met.
enum class Planning : uint8_t {
  // One expression of one row, nothing in it known before the row but NULLs: PostgreSQL has one order. Its
  // parts are computed from left to right; AND, OR, CASE and COALESCE stop when they know; the items of IN
  // that
  // are without columns come first, all of them; a NULL in the text of the statement decides what is strict.
  None,
  // With constants in it: PostgreSQL computes constant parts when it plans and fails there, even where no row
  // would need them (its manual, "Expression Evaluation Rules"); here they fail when they are needed. So an
  // error of one side says nothing.
  OfConstants,
  // A query: which rows, and which expressions of them, are computed before the first that fails, and whether
  // it is computed at all, is up to the order of joins and conditions and to columns that nobody uses. So an
  // error while it runs says nothing; a refusal (42xxx) is no matter of plans.
  OfQuery,
};
enum class RowOrder : uint8_t { Counts, DoesNot };

// Each is what the text is and what it means: types, rows or SQLSTATE, with these exceptions:
// - PostgreSQL reads many more ways to write a date than ISO 8601's, and has several errors for what is none.
// - We have fewer functions, and so may find another mistake first; some are refused by name.
// - Of a query: which of equal numbers a group or a minimum shows is nobody's promise (1.0 or 1.00, 0 or -0).
bool agree(Answer ours, Answer theirs, Planning planning, RowOrder order = RowOrder::Counts);

}  // namespace tidemark::sql::testing
