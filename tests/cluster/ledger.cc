#include <algorithm>

#include "tests/cluster/workloads.h"

namespace tidemark::crash {
namespace {

constexpr uint64_t kAccounts = 40;

struct Transfer {
  uint64_t from = 0;
  uint64_t to = 0;
  int64_t amount = 0;
};

// The row of an id is a function of the id.
Transfer transfer_of(uint64_t id) {
  Random random(id);
  Transfer out;
  out.from = random.below(kAccounts);
  out.to = (out.from + 1 + random.below(kAccounts - 1)) % kAccounts;
  out.amount = random.between(1, 1000);
  return out;
}

std::string row_of(const Transfer& transfer) {
  return std::to_string(transfer.from) + "," + std::to_string(transfer.to) + "," +
         std::to_string(transfer.amount);
}

class Ledger : public Workload {
 public:
  explicit Ledger(const WorkloadOptions& options)
      : Workload("ledger", options), logs_(options.writers), next_(options.writers, 1) {}
  ~Ledger() override { stop(); }

  std::vector<std::string> definitions() const override {
    return {
        "create table if not exists transfers (id bigint primary key, from_account bigint not null, "
        "to_account bigint not null, amount numeric not null)",
        "create materialized view if not exists legs as select id, from_account as account, -amount as "
        "amount "
        "from transfers union all select id, to_account, amount from transfers",
        "create materialized view if not exists balances as select account, sum(amount) as balance, "
        "count(*) as legs from legs group by account",
        "create materialized view if not exists total as select sum(amount) as total, count(*) as legs "
        "from legs"};
  }

  std::vector<ViewQuery> views() const override {
    const std::string legs =
        "select id, from_account as account, -amount as amount from transfers union all select id, "
        "to_account, amount from transfers";
    return {{"legs", legs},
            {"balances", "select account, sum(amount), count(*) from (" + legs + ") l group by account"},
            {"total", "select sum(amount), count(*) from (" + legs + ") l"}};
  }

  Findings check(SqlClient& client) override {
    auto rows = rows_by_key(client, "select id, from_account, to_account, amount from transfers");
    Findings out = check_balances(client, rows);
    for (const KeyLog& log : logs_) append(out, log.check("transfer", rows));
    for (const auto& [id, row] : rows) out.push_back("transfer " + id + ": nobody wrote (" + row + ")");
    return out;
  }

 protected:
  void write_once(size_t writer, SqlClient& client, Random&) override {
    const uint64_t id = writer * kIdsPerWriter + next_[writer]++;
    const Transfer transfer = transfer_of(id);
    SqlAnswer answer = write(writer, client,
                             "insert into transfers (id, from_account, to_account, amount) values (" +
                                 std::to_string(id) + ", " + std::to_string(transfer.from) + ", " +
                                 std::to_string(transfer.to) + ", " + std::to_string(transfer.amount) + ")");
    logs_[writer].note(std::to_string(id), row_of(transfer), answer.fate);
  }

 private:
  // Summed here, so that no code is shared with what computes the view.
  static Findings check_balances(SqlClient& client, const std::map<std::string, std::string>& transfers) {
    std::map<std::string, int64_t> expected;
    for (const auto& [id, row] : transfers) {
      const Transfer transfer = transfer_of(std::stoull(id));
      expected[std::to_string(transfer.from)] -= transfer.amount;
      expected[std::to_string(transfer.to)] += transfer.amount;
    }
    Findings out;
    for (const auto& [account, balance] : rows_by_key(client, "select account, balance from balances")) {
      if (balance == std::to_string(expected[account])) continue;
      out.push_back("account " + account + ": balance " + balance + ", its transfers make " +
                    std::to_string(expected[account]));
    }
    const SqlAnswer total = client.ask_until_done("select coalesce(sum(balance), 0) from balances");
    if (total.rows.at(0).at(0) != "0") out.push_back("the ledger's total is " + total.rows[0][0]);
    return out;
  }

  std::vector<KeyLog> logs_;
  std::vector<uint64_t> next_;
};

}  // namespace

std::unique_ptr<Workload> make_ledger(const WorkloadOptions& options) {
  return std::make_unique<Ledger>(options);
}

}  // namespace tidemark::crash
