// Memory is bounded by configuration, under any lag: what view managers hold, and the windows of queues.
#pragma once

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class MemoryBounds : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "memory bounds"; }
  void on_record(const SeenRecord& record, const SeenStream& stream) override;
  void on_sample() override;

 private:
  void check_view_manager(const std::string& name, const ViewManagerCore& core);
  void check_node(const std::string& name, StorageNode& node);

  size_t record_bytes_max_ = 0;  // The largest so far: every bound may be passed by one.
};

}  // namespace tidemark::sim
