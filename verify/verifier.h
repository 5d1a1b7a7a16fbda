// Compares views with their queries while writes go on. One thread; waits.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "verify/differences.h"
#include "verify/recomputation.h"
#include "verify/server.h"

namespace tidemark::verify {

struct VerifyOptions {
  std::vector<std::string> views = {};  // Empty: all.
  std::string directory = "/tmp";       // Where base rows are copied to.
  int64_t cache_bytes = 64 << 20;
  int64_t shown_rows_max = 100;  // Per view.
  std::chrono::milliseconds hold{10'000};
  std::chrono::milliseconds patience{5'000};  // How long a view that is behind is waited for between rounds.
};

enum class Verdict : uint8_t {
  Agrees,
  Differs,
  Moving,     // Rows changed from round to round, or the view is behind, for as long as writes could be held.
  Unchecked,  // The reason says why.
};

struct ViewReport {
  std::string view;
  Verdict verdict = Verdict::Unchecked;
  std::string reason;
  int rounds = 0;
  int64_t rows = 0;       // Found in the last round.
  int64_t differing = 0;  // Rows that differ; of a moving view, in every round.
  int64_t moving = 0;     // Rows that differed in the last round but not in every one.
  std::vector<std::string> columns;
  std::vector<Difference> differences;  // The first of them.
};

struct VerifyReport {
  std::vector<ViewReport> views;
  std::chrono::milliseconds held{0};  // How long client writes waited.

  bool agrees() const;
};

// An error means that nothing can be said: no connection, an unknown view, no place for a copy.
Result<VerifyReport> verify(Server& server, const VerifyOptions& options);

}  // namespace tidemark::verify
