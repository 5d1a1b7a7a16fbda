// What a region must know of the inside of rows and keys: adding rows up, and columns derived from a
// multiset. Everything else treats them as bytes. Tests have a stand-in; production's is built on sql/types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "proto/catalog.pb.h"

namespace tidemark {

enum class AddOutcome : uint8_t {
  Row,        // `out` is the sum.
  Gone,       // The count, the first column, has come to zero: the row goes.
  Malformed,  // `row` or `delta` is no row of the table.
};

class RowArithmetic {
 public:
  virtual ~RowArithmetic() = default;

  // SUM and MULTISET: `row` (none: no row yet) plus `delta`, column by column, exactly. Derived columns stay
  // as they are in `row`. REQUIRES: `out` overlaps neither.
  virtual AddOutcome add(const pb::TableDefinition& table, std::optional<std::string_view> row,
                         std::string_view delta, std::string& out) = 0;

  // The size of the encoded distribution columns at the front of `key`: rows of one table with equal fronts
  // are a group, or share a join key; a SUM row's key is its group. None: malformed.
  virtual std::optional<size_t> distribution_size(const pb::TableDefinition& table, std::string_view key) = 0;

  // MIN and MAX: `row` with `column` set to the value in `multiset_key` (none: NULL). False: malformed.
  virtual bool set_value(const pb::TableDefinition& table, std::string_view row, uint32_t column,
                         const pb::TableDefinition& multiset, std::optional<std::string_view> multiset_key,
                         std::string& out) = 0;

  // COUNT_DISTINCT: reads and writes a bigint column. NULL reads as 0.
  virtual std::optional<int64_t> get_count(const pb::TableDefinition& table, std::string_view row,
                                           uint32_t column) = 0;
  virtual bool set_count(const pb::TableDefinition& table, std::string_view row, uint32_t column,
                         int64_t count, std::string& out) = 0;
};

}  // namespace tidemark
