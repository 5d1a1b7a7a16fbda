// All workloads at once against one cluster, and what is wrong in the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/cluster/workload.h"

namespace tidemark::crash {

struct LoadOptions {
  WorkloadOptions workload;
  std::chrono::milliseconds converge{180'000};  // How long views may take after the last write.
};

class Load {
 public:
  // REQUIRES: `gateways` outlives it.
  Load(const Gateways& gateways, LoadOptions options);
  ~Load();

  // Makes tables and views. Throws ServerError.
  void create();
  void start();
  void stop();

  // Stops; waits until every view equals its query, run ad hoc over the tables; compares all with what the
  // writers were told; asks `tidemark verify`, too. Throws ServerError if nobody answers.
  Findings verify();

  Tally tally() const;
  std::string describe() const;  // One line: writes by fate.

 private:
  const Gateways& gateways_;
  const LoadOptions options_;
  std::vector<std::unique_ptr<Workload>> workloads_;
};

// Empty once the view equals its query; else, at the deadline, the rows that differ.
Findings await_view(SqlClient& client, const ViewQuery& view, std::chrono::milliseconds deadline);

// What `tidemark verify` finds, asked of any gateway.
Findings verify_by_program(const Gateways& gateways);

}  // namespace tidemark::crash
