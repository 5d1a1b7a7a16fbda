#include "bench/orders/views.h"

#include <algorithm>

#include "sql/plan/catalog_plans.h"

namespace tidemark::bench {

namespace {

struct Named {
  ViewKind kind;
  const char* name;
  const char* query;
};
constexpr Named kViews[] = {
    {ViewKind::None, "none", ""},
    {ViewKind::Sum, "sum",
     "select customer, count(*) as n, sum(amount) as total from orders group by customer"},
    {ViewKind::Filter, "filter", "select id, customer, amount from orders where amount > 900"},
    {ViewKind::Join, "join",
     "select o.id, o.amount, c.name from orders o join customers c on o.customer = c.id"},
    {ViewKind::Max, "max", "select customer, max(amount) as most from orders group by customer"},
};
constexpr int32_t kFilterCents = 90'000;

const Named& named(ViewKind kind) {
  return *std::find_if(std::begin(kViews), std::end(kViews),
                       [&](const Named& it) { return it.kind == kind; });
}

struct ColumnSpec {
  const char* name;
  const char* type;
};

pb::TableDefinition table(TableId id, const char* name, const std::vector<ColumnSpec>& columns) {
  pb::TableDefinition out;
  out.set_id(id.value);
  out.set_name(name);
  out.set_kind(pb::MANAGED);
  out.set_row_rule(pb::PUT);
  std::string sql = "create table " + std::string(name) + " (";
  for (const ColumnSpec& column : columns) {
    pb::Column& stored = *out.add_columns();
    stored.set_name(column.name);
    stored.set_type(column.type);
    sql += std::string(column.name) + " " + column.type + ", ";
  }
  out.mutable_columns(0)->set_not_null(true);
  out.add_distribution(0);
  out.set_sql(sql + "primary key (id))");
  return out;
}

// What the planner has to know of the tables.
class Tables : public sql::Catalog {
 public:
  explicit Tables(const pb::Catalog& catalog) {
    std::vector<std::string> failures;
    plans_.update(catalog, failures);
    for (const pb::TableDefinition& definition : catalog.tables()) {
      if (definition.kind() == pb::MANAGED) ids_[definition.name()] = TableId{definition.id()};
    }
  }
  sql::TableSchemaPtr find_table(std::string_view, std::string_view name) const override {
    auto found = ids_.find(std::string(name));
    return found == ids_.end() ? nullptr : sql::schema_of(*stored(found->second));
  }
  sql::StoredTablePtr stored(TableId id) const { return plans_.table(id); }

 private:
  sql::CatalogPlans plans_;
  std::map<std::string, TableId> ids_;
};

std::string row_text(const char* what, int64_t id) {
  return std::string(what) + " " + std::to_string(id);
}

}  // namespace

std::optional<ViewKind> view_kind(const std::string& name) {
  for (const Named& it : kViews) {
    if (name == it.name) return it.kind;
  }
  return std::nullopt;
}

std::string to_string(ViewKind kind) {
  return named(kind).name;
}

pb::TableDefinition orders_table(TableId id) {
  return table(id, "orders",
               {{"id", "bigint"}, {"customer", "integer"}, {"amount", "numeric(12,2)"}, {"note", "text"}});
}

pb::TableDefinition customers_table(TableId id) {
  return table(id, "customers", {{"id", "integer"}, {"name", "text"}});
}

std::string customer_name(int32_t customer) {
  return "customer " + std::to_string(customer);
}

Result<std::vector<pb::TableDefinition>> view_tables(ViewKind kind, const pb::Catalog& catalog) {
  Tables tables(catalog);
  auto plan =
      sql::plan_statement(std::string("create materialized view v as ") + named(kind).query,
                          TableId{catalog.next_id()}, tables, [&](TableId id) { return tables.stored(id); });
  if (!plan.ok()) return Error{plan.error().message};
  return plan->tables;
}

// A join's sides are fed from the tables and feed the view; all else is written at once.
std::vector<TableId> path_to(const pb::TableDefinition& view, const pb::Catalog& catalog) {
  std::vector<TableId> out;
  for (const pb::TableDefinition& side : catalog.tables()) {
    if (side.row_rule() != pb::JOIN_SIDE || side.view() != view.id()) continue;
    const TableId source{side.sources(0)};
    for (const pb::TableDefinition& from : catalog.tables()) {
      if (from.id() == source.value && from.name() == "orders") out.push_back(TableId{side.id()});
    }
  }
  out.push_back(TableId{view.id()});
  return out;
}

ViewCheck::ViewCheck(ViewKind kind, const pb::TableDefinition& view, const OrdersWorkload& workload)
    : kind_(kind), workload_(workload), codec_(*sql::TableCodec::make(view)) {
  const bool grouped = kind == ViewKind::Sum || kind == ViewKind::Max;
  const auto& written = workload.written();
  if (!grouped) {
    seen_.resize(written.size());
    expected_ = static_cast<uint64_t>(
        std::count_if(written.begin(), written.end(), [&](const auto& order) { return passes(order); }));
    return;
  }
  for (const OrdersWorkload::Written& order : written) {
    if (order.customer == 0) continue;
    const auto customer = static_cast<size_t>(order.customer);
    if (groups_.size() <= customer) groups_.resize(customer + 1);
    Group& group = groups_[customer];
    if (++group.count == 1) ++expected_;
    group.cents += order.cents;
    group.most = std::max(group.most, order.cents);
  }
  seen_.resize(groups_.size());
}

bool ViewCheck::passes(const OrdersWorkload::Written& order) const {
  return order.customer != 0 && (kind_ != ViewKind::Filter || order.cents > kFilterCents);
}

Status ViewCheck::decode(std::string_view key, std::string_view row) {
  arena_.reset();
  if (!codec_.decode(key, row, arena_, values_).ok()) return Error{"a row of the view can't be read"};
  return {};
}

// Amounts have two digits after the point, whichever number of them the value is shown with.
int64_t ViewCheck::cents_of(size_t column) const {
  const sql::Numeric number = values_[column].as_numeric();
  auto coefficient = static_cast<int64_t>(number.coefficient());
  for (int scale = number.scale(); scale < 2; ++scale) coefficient *= 10;
  for (int scale = number.scale(); scale > 2; --scale) coefficient /= 10;
  return coefficient;
}

Status ViewCheck::take(std::string_view key, std::string_view row) {
  ++rows_;
  TM_TRY(decode(key, row));
  return kind_ == ViewKind::Sum || kind_ == ViewKind::Max ? take_group() : take_order();
}

// Columns: customer, rows, then the sum and its count, or the largest.
Status ViewCheck::take_group() {
  const int64_t customer = integer(0);
  if (customer <= 0 || static_cast<size_t>(customer) >= groups_.size()) {
    return Error{row_text("there is a row of customer", customer)};
  }
  const Group& group = groups_[static_cast<size_t>(customer)];
  if (seen_[static_cast<size_t>(customer)]) return Error{row_text("twice: customer", customer)};
  seen_[static_cast<size_t>(customer)] = true;
  const int64_t wanted = kind_ == ViewKind::Sum ? group.cents : group.most;
  if (integer(1) == group.count && cents_of(2) == wanted) return {};
  return Error{row_text("customer", customer) + " has " + std::to_string(integer(1)) + " orders and " +
               std::to_string(cents_of(2)) + " cents, not " + std::to_string(group.count) + " and " +
               std::to_string(wanted)};
}

// The table itself and filter: id, customer, amount. Join: id, amount, name, and the keys of the sides.
Status ViewCheck::take_order() {
  const int64_t id = integer(0);
  if (id < 0 || static_cast<size_t>(id) >= seen_.size()) return Error{row_text("there is an order", id)};
  const OrdersWorkload::Written& order = workload_.written()[static_cast<size_t>(id)];
  if (seen_[static_cast<size_t>(id)]) return Error{row_text("twice: order", id)};
  seen_[static_cast<size_t>(id)] = true;
  if (!passes(order)) return Error{row_text("there must be no row of order", id)};
  const bool same = kind_ == ViewKind::Join
                        ? cents_of(1) == order.cents && values_[2].as_bytes() == customer_name(order.customer)
                        : integer(1) == order.customer && cents_of(2) == order.cents;
  return same ? Status{} : Status{Error{row_text("a wrong row of order", id)}};
}

Status ViewCheck::end() const {
  if (rows_ == expected_) return {};
  return Error{"the view has " + std::to_string(rows_) + " rows, not " + std::to_string(expected_)};
}

void ViewCheck::probe_key(const Order& order, uint64_t& hash, std::string& key) const {
  key.clear();
  std::vector<sql::Value> values;
  for (size_t column : codec_.key_columns()) {
    const bool is_order = codec_.columns()[column].name == "id";
    values.push_back(is_order ? sql::Value::bigint(order.id) : sql::Value::integer(order.customer));
  }
  hash = codec_.encode_key_prefix(values, key);
}

bool ViewCheck::shows(const Order& order, std::string_view key, std::string_view row) {
  if (!decode(key, row).ok()) return false;
  return cents_of(kind_ == ViewKind::Join ? 1 : 2) == order.cents;
}

}  // namespace tidemark::bench
