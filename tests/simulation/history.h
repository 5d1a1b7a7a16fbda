// The rows of base tables through time, as the logs have them: which versions a key had, in the order of its
// lane. Made by the witness's records alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"
#include "tests/simulation/tables.h"
#include "tests/simulation/witness.h"

namespace tidemark::sim {

struct RowVersion {
  Position at;             // Of the record.
  Micros landed;           // When it became durable.
  std::optional<Row> row;  // None: deleted.
};

struct LaneStep {
  std::string table;
  std::string key;
  RowVersion version;
};

class RowHistory {
 public:
  RowHistory(const Tables& tables, ShardCount shards) : tables_(tables), shards_(shards) {}

  void on_record(const SeenRecord& record, Generation generation, Micros now);

  // All changes of base rows in one lane, in order.
  const std::vector<LaneStep>& lane(ShardId lane) const;
  // Was the row, or its absence, such at some time from `begin` until now?
  using Such = std::function<bool(const std::optional<Row>&)>;
  bool was(const std::string& table, const std::string& key, ShardId lane, Micros begin,
           const Such& such) const;
  // What was there before the version with this stamp. REQUIRES: there is one.
  std::optional<Row> before(const std::string& table, const std::string& key, ShardId lane,
                            int64_t stamp) const;
  // What is there now.
  std::optional<Row> row(const std::string& table, const std::string& key) const;
  // The present rows of a base table, by key.
  std::map<std::string, Row> rows(const std::string& table) const;

 private:
  const Tables& tables_;
  ShardCount shards_;
  std::map<ShardId, std::vector<LaneStep>> lanes_;
  std::map<std::string, std::map<std::string, Row>> rows_;
};

}  // namespace tidemark::sim
