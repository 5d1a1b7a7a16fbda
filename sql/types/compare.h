// PostgreSQL's order of values within a type, in the C collation.
#pragma once

#include "sql/types/value.h"

namespace tidemark::sql {

// -1, 0 or 1. REQUIRES: both of the same kind, neither NULL.
int compare_values(const Value& a, const Value& b);

// NaN is greater than every number, and equal to itself; -0 equals 0.
int compare_doubles(double a, double b);

// In microseconds, with months of 30 days and days of 24 hours: what PostgreSQL compares intervals by.
int128_t interval_span(const Interval& interval);

}  // namespace tidemark::sql
