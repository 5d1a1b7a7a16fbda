// The parts of `tidemark ring`. Each adds its options to the parser and gives what to run if it was chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/result.h"
#include "cli/report.h"
#include "hashring/result.h"

namespace tidemark {

struct RingSubcommand {
  CLI::App* app;
  std::function<Result<Report>()> run;
};

RingSubcommand add_ring_compute(CLI::App& ring);
RingSubcommand add_ring_diff(CLI::App& ring);
RingSubcommand add_ring_explain(CLI::App& ring);
RingSubcommand add_ring_plot(CLI::App& ring);
RingSubcommand add_ring_compare(CLI::App& ring);
RingSubcommand add_ring_analyze(CLI::App& ring);

inline Error as_error(const hashring::Error& error) {
  return Error{error.message};
}

}  // namespace tidemark
