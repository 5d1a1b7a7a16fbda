// The views that are measured: how each is made, and whether it holds what it must.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/orders/workload.h"
#include "proto/catalog.pb.h"
#include "sql/table/table_codec.h"

namespace tidemark::bench {

enum class ViewKind : uint8_t {
  None,    // No view: what writing alone costs.
  Sum,     // Count and sum by customer.
  Filter,  // One order of ten.
  Join,    // Each order with its customer's name.
  Max,     // The largest order by customer.
};
std::optional<ViewKind> view_kind(const std::string& name);
std::string to_string(ViewKind kind);

pb::TableDefinition orders_table(TableId id);
pb::TableDefinition customers_table(TableId id);
std::string customer_name(int32_t customer);

// The view and its auxiliary tables, as a CatalogRequest creates them, over tables already in the catalog.
Result<std::vector<pb::TableDefinition>> view_tables(ViewKind kind, const pb::Catalog& catalog);

// The tables through which a write to orders reaches the view, the view last.
std::vector<TableId> path_to(const pb::TableDefinition& view, const pb::Catalog& catalog);

// The view's rows as they are stored, compared with what the written orders say.
class ViewCheck {
 public:
  // REQUIRES: the workload outlives it.
  ViewCheck(ViewKind kind, const pb::TableDefinition& view, const OrdersWorkload& workload);

  // Each row of the view, once, in any order. Error: a row that must not be there, or not so.
  Status take(std::string_view key, std::string_view row);
  // Error: rows are missing.
  Status end() const;
  uint64_t rows() const { return rows_; }

  // The row that an order with this content leads to, if no other order has its customer: for probes.
  void probe_key(const Order& order, uint64_t& hash, std::string& key) const;
  // Does the row show the order's amount?
  bool shows(const Order& order, std::string_view key, std::string_view row);

 private:
  struct Group {
    int64_t count = 0;
    int64_t cents = 0;
    int32_t most = 0;
  };

  Status decode(std::string_view key, std::string_view row);
  Status take_group();
  Status take_order();
  bool passes(const OrdersWorkload::Written& order) const;
  int64_t cents_of(size_t column) const;
  int64_t integer(size_t column) const { return values_[column].as_int(); }

  const ViewKind kind_;
  const OrdersWorkload& workload_;
  sql::TableCodec codec_;
  sql::Arena arena_;
  std::vector<sql::Value> values_;
  std::vector<Group> groups_;  // By customer.
  std::vector<bool> seen_;     // By customer, or by order.
  uint64_t rows_ = 0;
  uint64_t expected_ = 0;
};

}  // namespace tidemark::bench
