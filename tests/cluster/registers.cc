#include "tests/cluster/workloads.h"

namespace tidemark::crash {
namespace {

constexpr uint64_t kKeysPerWriter = 30;
constexpr uint64_t kBuckets = 5;

class Registers : public Workload {
 public:
  explicit Registers(const WorkloadOptions& options)
      : Workload("registers", options), writers_(options.writers) {
    for (Writer& writer : writers_)
      for (uint64_t i = 0; i < kKeysPerWriter; ++i) writer.keys.push_back(writer.keys_made++);
  }
  ~Registers() override { stop(); }

  std::vector<std::string> definitions() const override {
    return {
        "create table if not exists registers (k text primary key, bucket bigint not null, "
        "n bigint not null)",
        "create materialized view if not exists register_summary as select bucket, count(*) as keys, "
        "sum(n) as total, min(n) as lowest, max(n) as highest from registers group by bucket",
        "create materialized view if not exists even_registers as select k, n from registers "
        "where n % 2 = 0"};
  }

  std::vector<ViewQuery> views() const override {
    return {{"register_summary",
             "select bucket, count(*), sum(n), min(n), max(n) from registers group by bucket"},
            {"even_registers", "select k, n from registers where n % 2 = 0"}};
  }

  Findings check(SqlClient& client) override {
    auto rows = rows_by_key(client, "select k, bucket, n from registers");
    Findings out;
    for (const Writer& writer : writers_) append(out, writer.log.check("register", rows));
    for (const auto& [key, row] : rows) out.push_back("register " + key + ": nobody wrote (" + row + ")");
    return out;
  }

 protected:
  void write_once(size_t number, SqlClient& client, Random& random) override {
    Writer& writer = writers_[number];
    uint64_t& slot = writer.keys[random.below(writer.keys.size())];
    const std::string key = "w" + std::to_string(number) + "-" + std::to_string(slot);
    const RowState before = writer.log.known(key);
    const bool erase = before && random.chance(0.1);
    const std::string bucket = std::to_string(slot % kBuckets), n = std::to_string(++writer.sequence);
    const SqlAnswer answer = write(number, client, statement(key, bucket, n, before.has_value(), erase));
    const RowState written = erase ? RowState() : RowState(bucket + "," + n);
    if (answer.ok() && answer.affected != 1)
      notice(number, key + " was there, and is not: " + std::to_string(answer.affected) + " rows affected");
    writer.log.note(key, written, answer.fate);
    if (answer.fate == Fate::Unknown) slot = writer.keys_made++;
  }

 private:
  struct Writer {
    std::vector<uint64_t> keys;
    uint64_t keys_made = 0;
    uint64_t sequence = 0;
    KeyLog log;
  };

  static std::string statement(const std::string& key, const std::string& bucket, const std::string& n,
                               bool is_there, bool erase) {
    if (erase) return "delete from registers where k = '" + key + "'";
    if (is_there) return "update registers set n = " + n + " where k = '" + key + "'";
    return "insert into registers (k, bucket, n) values ('" + key + "', " + bucket + ", " + n +
           ") on conflict (k) do update set n = excluded.n";
  }

  std::vector<Writer> writers_;
};

constexpr uint64_t kCounters = 8;

class Counters : public Workload {
 public:
  explicit Counters(const WorkloadOptions& options)
      : Workload("counters", options), counted_(options.writers, std::vector<Tally>(kCounters)) {}
  ~Counters() override { stop(); }

  std::vector<std::string> definitions() const override {
    std::vector<std::string> out{
        "create table if not exists counters (k bigint primary key, n bigint not null)",
        "create materialized view if not exists counted as select sum(n) as total from counters"};
    for (uint64_t i = 0; i < kCounters; ++i)
      out.push_back("insert into counters values (" + std::to_string(i) + ", 0) on conflict (k) do nothing");
    return out;
  }

  std::vector<ViewQuery> views() const override { return {{"counted", "select sum(n) from counters"}}; }

  Findings check(SqlClient& client) override {
    auto rows = rows_by_key(client, "select k, n from counters");
    Findings out;
    for (uint64_t i = 0; i < kCounters; ++i) {
      uint64_t least = 0, most = 0;
      for (const auto& writer : counted_) {
        least += writer[i].done;
        most += writer[i].done + writer[i].unknown;
      }
      const std::string found = rows[std::to_string(i)];
      if (!found.empty() && std::stoull(found) >= least && std::stoull(found) <= most) continue;
      out.push_back("counter " + std::to_string(i) + " is at " + found + ": " + std::to_string(least) +
                    " increments were acknowledged, " + std::to_string(most - least) + " more are unknown");
    }
    return out;
  }

 protected:
  void write_once(size_t writer, SqlClient& client, Random& random) override {
    const uint64_t key = random.below(kCounters);
    const SqlAnswer answer =
        write(writer, client, "update counters set n = n + 1 where k = " + std::to_string(key));
    Tally& tally = counted_[writer][key];
    if (answer.fate == Fate::Done) ++tally.done;
    if (answer.fate == Fate::Unknown) ++tally.unknown;
    if (answer.ok() && answer.affected != 1) notice(writer, "a counter is not there");
  }

 private:
  std::vector<std::vector<Tally>> counted_;  // By writer and counter.
};

}  // namespace

std::unique_ptr<Workload> make_registers(const WorkloadOptions& options) {
  return std::make_unique<Registers>(options);
}
std::unique_ptr<Workload> make_counters(const WorkloadOptions& options) {
  return std::make_unique<Counters>(options);
}

}  // namespace tidemark::crash
