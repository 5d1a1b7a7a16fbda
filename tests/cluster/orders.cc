#include "tests/cluster/workloads.h"

namespace tidemark::crash {
namespace {

constexpr uint64_t kOrdersPerWriter = 60;
constexpr uint64_t kCustomersPerWriter = 8;
constexpr uint64_t kOrderIdsPerWriter = 1'000'000;

// Rows with numbers of one writer; a number whose write is of unknown fate gives way to a new one.
class Orders : public Workload {
 public:
  explicit Orders(const WorkloadOptions& options) : Workload("orders", options), writers_(options.writers) {
    for (size_t i = 0; i < writers_.size(); ++i) {
      writers_[i].orders.fill(i * kOrderIdsPerWriter, kOrdersPerWriter);
      writers_[i].customers.fill(i * kOrderIdsPerWriter, kCustomersPerWriter);
    }
  }
  ~Orders() override { stop(); }

  std::vector<std::string> definitions() const override {
    return {"create table if not exists customers (id bigint primary key, name text not null)",
            "create table if not exists orders (id bigint primary key, customer bigint not null, "
            "amount bigint not null)",
            "create materialized view if not exists named_orders as select o.id as id, c.name as name, "
            "o.amount as amount from orders o join customers c on o.customer = c.id",
            "create materialized view if not exists spent as select name, sum(amount) as amount, "
            "count(*) as orders from named_orders group by name"};
  }

  std::vector<ViewQuery> views() const override {
    const std::string join =
        "select o.id as id, c.name as name, o.amount as amount from orders o join customers c on o.customer "
        "= "
        "c.id";
    return {{"named_orders", join},
            {"spent", "select name, sum(amount), count(*) from (" + join + ") j group by name"}};
  }

  Findings check(SqlClient& client) override {
    auto customers = rows_by_key(client, "select id, name from customers");
    auto orders = rows_by_key(client, "select id, customer, amount from orders");
    Findings out = check_join(client, customers, orders);
    for (const Writer& writer : writers_) {
      append(out, writer.customers.log.check("customer", customers));
      append(out, writer.orders.log.check("order", orders));
    }
    for (const auto& [id, row] : customers) out.push_back("customer " + id + ": nobody wrote (" + row + ")");
    for (const auto& [id, row] : orders) out.push_back("order " + id + ": nobody wrote (" + row + ")");
    return out;
  }

 protected:
  void write_once(size_t number, SqlClient& client, Random& random) override {
    Writer& writer = writers_[number];
    if (random.chance(0.2)) {
      const std::string name = "name" + std::to_string(random.below(20));
      return change(number, client, writer.customers, random,
                    {.table = "customers", .columns = {"name"}, .values = {name}});
    }
    const std::string customer = writer.customers.any(random);
    const std::string amount = std::to_string(random.between(1, 500));
    change(number, client, writer.orders, random,
           {.table = "orders", .columns = {"customer", "amount"}, .values = {customer, amount}});
  }

 private:
  struct Keys {
    std::vector<uint64_t> ids;
    uint64_t next = 0;
    KeyLog log;

    void fill(uint64_t first, uint64_t count) {
      next = first;
      while (ids.size() < count) ids.push_back(next++);
    }
    std::string any(Random& random) const { return std::to_string(ids[random.below(ids.size())]); }
  };
  struct Writer {
    Keys customers;
    Keys orders;
  };
  struct NewRow {
    std::string table;
    std::vector<std::string> columns;
    std::vector<std::string> values;
  };

  void change(size_t number, SqlClient& client, Keys& keys, Random& random, const NewRow& row) {
    uint64_t& id = keys.ids[random.below(keys.ids.size())];
    const std::string key = std::to_string(id);
    const RowState before = keys.log.known(key);
    const bool erase = before && random.chance(0.2);
    const SqlAnswer answer = write(number, client, statement(row, key, before.has_value(), erase));
    if (answer.ok() && answer.affected != 1) notice(number, row.table + " " + key + " should be there");
    keys.log.note(key, erase ? RowState() : RowState(joined(row.values, ",")), answer.fate);
    if (answer.fate == Fate::Unknown) id = keys.next++;
  }

  static std::string joined(const std::vector<std::string>& words, const std::string& by) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : by) + word;
    return out;
  }

  static std::string statement(const NewRow& row, const std::string& key, bool is_there, bool erase) {
    if (erase) return "delete from " + row.table + " where id = " + key;
    if (!is_there)
      return "insert into " + row.table + " (id, " + joined(row.columns, ", ") + ") values (" + key + ", '" +
             joined(row.values, "', '") + "')";
    std::vector<std::string> assignments;
    for (size_t i = 0; i < row.columns.size(); ++i)
      assignments.push_back(row.columns[i] + " = '" + row.values[i] + "'");
    return "update " + row.table + " set " + joined(assignments, ", ") + " where id = " + key;
  }

  static Findings check_join(SqlClient& client, const std::map<std::string, std::string>& customers,
                             const std::map<std::string, std::string>& orders) {
    auto there_are = rows_by_key(client, "select id, name, amount from named_orders");
    Findings out;
    for (const auto& [id, row] : orders) {
      const size_t comma = row.find(',');
      auto customer = customers.find(row.substr(0, comma));
      const RowState expected =
          customer == customers.end() ? RowState() : RowState(customer->second + row.substr(comma));
      auto found = there_are.find(id);
      const RowState there = found == there_are.end() ? RowState() : RowState(found->second);
      if (there != expected) out.push_back("named_orders " + id + " is " + there.value_or("not there"));
      if (found != there_are.end()) there_are.erase(found);
    }
    for (const auto& [id, row] : there_are) out.push_back("named_orders " + id + " has no order");
    return out;
  }

  std::vector<Writer> writers_;
};

}  // namespace

std::unique_ptr<Workload> make_orders(const WorkloadOptions& options) {
  return std::make_unique<Orders>(options);
}

}  // namespace tidemark::crash
