#include "sql/session/operation_writer.h"

#include <algorithm>
#include <map>

namespace tidemark::sql {

namespace {

constexpr size_t kGroupBytesMax = size_t{400} << 10;  // A request must fit one record.

}  // namespace

Operation OwnedOperation::view() const {
  Operation out;
  out.kind = kind;
  out.table = table;
  out.hash = hash;
  out.key = key;
  out.row = row;
  if (expected) out.expected = *expected;
  return out;
}

struct OperationWriter::Writing {
  std::vector<OwnedOperation> operations;
  CatalogVersion version;
  Grouping grouping;
  WriteResult result;
  size_t left = 0;
  Done done;
};

OperationWriter::OperationWriter(ServiceState& service) : service_(service), loop_(service.scheduler) {}
OperationWriter::~OperationWriter() = default;

void OperationWriter::write(std::vector<OwnedOperation> operations, CatalogVersion version, Grouping grouping,
                            Done done) {
  TM_ASSERT(!operations.empty());
  auto writing = std::make_shared<Writing>();
  writing->operations = std::move(operations);
  writing->version = version;
  writing->grouping = grouping;
  writing->left = writing->operations.size();
  writing->result.operations.resize(writing->left);
  writing->done = std::move(done);
  std::vector<size_t> all(writing->left);
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  send(writing, std::move(all));
}

// By region as far as is known now. What is not known goes by itself.
void OperationWriter::send(const std::shared_ptr<Writing>& writing, std::vector<size_t> indexes) {
  if (writing->grouping == Grouping::OneRequest) return send_group(writing, std::move(indexes));
  struct Group {
    std::vector<size_t> indexes;
    size_t bytes = 0;
  };
  std::map<uint64_t, Group> open;
  std::vector<std::vector<size_t>> groups;
  for (size_t i : indexes) {
    const OwnedOperation& operation = writing->operations[i];
    const RegionPlace* place = service_.directory.find(service_.shards.shard_of(operation.hash));
    if (place == nullptr || writing->grouping == Grouping::Alone) {
      groups.push_back({i});
      continue;
    }
    Group& group = open[place->region.value];
    if (group.bytes + operation.bytes() > kGroupBytesMax && !group.indexes.empty()) {
      groups.push_back(std::move(group.indexes));
      group = {};
    }
    group.indexes.push_back(i);
    group.bytes += operation.bytes();
  }
  for (auto& [region, group] : open) groups.push_back(std::move(group.indexes));
  for (std::vector<size_t>& group : groups) send_group(writing, std::move(group));
}

void OperationWriter::send_group(const std::shared_ptr<Writing>& writing, std::vector<size_t> group) {
  WriteBatch batch;
  for (size_t i : group) batch.add(writing->operations[i].view());
  service_.client.write(
      std::move(batch), writing->version, Atomicity::Whole,
      [this, alive = loop_.token(), writing, group](Result<WriteOutcome, ClientFailure> outcome) {
        if (alive.expired()) return;
        if (!outcome.ok()) return on_failure(writing, group, outcome.error());
        for (size_t k = 0; k < group.size(); ++k) {
          writing->result.operations[group[k]].rows_affected = outcome->rows_affected[k];
        }
        writing->result.tokens.raise(outcome->tokens);
        end(writing, group);
      });
}

void OperationWriter::on_failure(const std::shared_ptr<Writing>& writing, const std::vector<size_t>& group,
                                 const ClientFailure& failure) {
  if (failure.code == ClientError::NotOneRegion && writing->grouping != Grouping::OneRequest) {
    return send(writing, group);  // A region was split.
  }
  for (size_t i : group) {
    writing->result.operations[i].failure = failure;
    writing->result.operations[i].failure->operation = group[std::min(failure.operation, group.size() - 1)];
  }
  end(writing, group);
}

void OperationWriter::end(const std::shared_ptr<Writing>& writing, const std::vector<size_t>& group) {
  writing->left -= group.size();
  if (writing->left == 0) writing->done(std::move(writing->result));
}

}  // namespace tidemark::sql
