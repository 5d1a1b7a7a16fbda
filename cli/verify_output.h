// What `tidemark verify` found, for people and for programs.
#pragma once

#include <string>

#include "verify/verifier.h"

namespace tidemark {

// A line per view, below it the rows that differ; at the end how many of each there are.
std::string verification_as_text(const verify::VerifyReport& report);
// One object. Values of rows are strings as PostgreSQL prints them, or null.
std::string verification_as_json(const verify::VerifyReport& report);

}  // namespace tidemark
