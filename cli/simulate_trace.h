// Runs a seed with all that happens written to a file, for people.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/simulate_campaign.h"

namespace tidemark {

// Where a seed's trace is written if nobody says otherwise: "DIRECTORY/seed17.trace", of a scenario that is
// not the swarm "DIRECTORY/disk-seed17.trace".
std::string trace_path(const CampaignOptions& options, const std::string& directory, uint64_t seed);

// As run_seed(). The first run's trace is in `file`, the second run's in `file`.2, which is gone afterwards
// if both ended the same. Each line is written at once: it is there if the process dies. Error: `file` can
// not be written; nothing was run.
Result<sim::RunReport> run_traced(const CampaignOptions& options, uint64_t seed, const std::string& file);

// The first line in which the second run's trace differs from the first one's, as text; "": there is no
// second.
std::string describe_difference(const std::string& file);

// Traces of a campaign's first failures.
class FailureTraces {
 public:
  static constexpr int kCountMax = 3;

  // "": no traces. REQUIRES: the options outlive it.
  FailureTraces(const CampaignOptions& options, std::string directory)
      : options_(options), directory_(std::move(directory)) {}

  // Runs a seed that has failed once more, with a trace, in a process of its own: it may die. Says where the
  // trace is, in whole lines; "": none is wanted any more.
  std::string write(uint64_t seed);

 private:
  const CampaignOptions& options_;
  std::string directory_;
  int count_ = 0;
};

}  // namespace tidemark
