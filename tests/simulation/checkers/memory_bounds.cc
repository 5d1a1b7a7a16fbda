#include "tests/simulation/checkers/memory_bounds.h"

namespace tidemark::sim {
namespace {
// The effects of one record: a row meets every row of the other side of a join, and each makes a row.
constexpr size_t kEffectsPerRecordByte = 64;
}  // namespace

void MemoryBounds::on_record(const SeenRecord& record, const SeenStream&) {
  if (record.body) record_bytes_max_ = std::max(record_bytes_max_, record.body->ByteSizeLong() + 200);
}

void MemoryBounds::on_sample() {
  for (int i = 0; i < evidence_.cluster.view_manager_count(); ++i) {
    ViewManager* role = evidence_.cluster.view_manager_role(i);
    if (role && role->core()) check_view_manager(evidence_.cluster.view_manager(i).name(), *role->core());
  }
  for (int i = 0; i < evidence_.cluster.node_count(); ++i) {
    if (StorageNode* node = evidence_.cluster.storage_node(i))
      check_node(evidence_.cluster.node(i).name(), *node);
  }
}

void MemoryBounds::check_view_manager(const std::string& name, const ViewManagerCore& core) {
  const ViewManagerLimits& limits = evidence_.cluster.options().view_manager;
  const size_t input_max =
      limits.input_bytes_max + core.queue_count() * (limits.queue_bytes_min + record_bytes_max_);
  if (core.input_bytes() > input_max)
    violated(name + " holds " + std::to_string(core.input_bytes()) + " bytes of input, " +
             std::to_string(input_max) + " are allowed");
  const size_t effects_max = limits.effects_bytes_max + kEffectsPerRecordByte * record_bytes_max_;
  if (core.effects_bytes() > effects_max)
    violated(name + " holds " + std::to_string(core.effects_bytes()) + " bytes of effects, " +
             std::to_string(effects_max) + " are allowed");
}

void MemoryBounds::check_node(const std::string& name, StorageNode& node) {
  const size_t window_max = evidence_.cluster.options().node.feed.window_bytes_max + record_bytes_max_;
  node.regions().for_each([&](RegionReplica& region) {
    const auto figures = region.queue_figures();
    if (figures && figures->window_bytes > window_max)
      violated(name + " keeps a window of " + std::to_string(figures->window_bytes) + " bytes, " +
               std::to_string(window_max) + " are allowed");
  });
}

}  // namespace tidemark::sim
