// Writes operations to their regions, each region's all or none, and tells for each what became of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/session/service_state.h"

namespace tidemark::sql {

// An operation that owns what it points to.
struct OwnedOperation {
  OperationKind kind = OperationKind::Put;
  TableId table;
  uint64_t hash = 0;
  std::string key;
  std::string row;
  std::optional<std::string> expected;

  Operation view() const;
  size_t bytes() const { return key.size() + row.size() + (expected ? expected->size() : 0) + 32; }
};

struct OperationResult {
  uint32_t rows_affected = 0;
  // It was not done; OutcomeUnknown: perhaps. Names the operation that it is because of.
  std::optional<ClientFailure> failure;
};

struct WriteResult {
  std::vector<OperationResult> operations;
  LaneRuns tokens;
};

// Together: as many of a region as fit one request. Alone: each by itself, so that one that loses a race
// takes no other with it. OneRequest: all or none; NotOneRegion if that can not be.
enum class Grouping : uint8_t { Together, Alone, OneRequest };

// Lives on the loop. Destroying it drops what is under way: it may be done or not.
class OperationWriter {
 public:
  explicit OperationWriter(ServiceState& service);
  ~OperationWriter();

  using Done = std::function<void(WriteResult)>;
  // `version` is that of the catalog that the tables are known from. Several may be under way at once.
  void write(std::vector<OwnedOperation> operations, CatalogVersion version, Grouping grouping, Done done);

 private:
  struct Writing;

  void send(const std::shared_ptr<Writing>& writing, std::vector<size_t> indexes);
  void send_group(const std::shared_ptr<Writing>& writing, std::vector<size_t> group);
  void on_failure(const std::shared_ptr<Writing>& writing, const std::vector<size_t>& group,
                  const ClientFailure& failure);
  void end(const std::shared_ptr<Writing>& writing, const std::vector<size_t>& group);

  ServiceState& service_;
  GuardedScheduler loop_;
};

}  // namespace tidemark::sql
