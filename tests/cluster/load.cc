#include "tests/cluster/load.h"

#include <algorithm>
#include <thread>

#include "tests/cluster/tidemark_process.h"
#include "tests/cluster/workloads.h"
#include "tests/servers/supervisor.h"

namespace tidemark::crash {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kShownRows = 5;
constexpr std::chrono::milliseconds kLookInterval{100};
constexpr std::chrono::seconds kReadPatience{60};

Rows sorted_rows(SqlClient& client, const std::string& query) {
  Rows rows = client.ask_until_done(query).rows;
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string shown(const std::vector<std::string>& row) {
  std::string out;
  for (const std::string& field : row) out += (out.empty() ? "" : ",") + field;
  return "(" + out + ")";
}

void show_difference(const Rows& have, const Rows& others, const std::string& what, Findings& out) {
  Rows only;
  std::set_difference(have.begin(), have.end(), others.begin(), others.end(), std::back_inserter(only));
  for (size_t i = 0; i < std::min(only.size(), kShownRows); ++i) out.push_back(what + " " + shown(only[i]));
  if (only.size() > kShownRows)
    out.push_back(what + " " + std::to_string(only.size() - kShownRows) + " more rows");
}

}  // namespace

Findings await_view(SqlClient& client, const ViewQuery& view, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    const Rows expected = sorted_rows(client, view.query);
    const Rows there = sorted_rows(client, "select * from " + view.name);
    if (there == expected) return {};
    if (std::chrono::steady_clock::now() > end) {
      Findings out{"view " + view.name + " has " + std::to_string(there.size()) + " rows, its query " +
                   std::to_string(expected.size())};
      show_difference(expected, there, "  missing", out);
      show_difference(there, expected, "  too much", out);
      return out;
    }
    std::this_thread::sleep_for(kLookInterval);
  }
}

Findings verify_by_program(const Gateways& gateways) {
  servers::TemporaryDirectory directory("verify");
  ProgramEnd end;
  for (const std::string& address : gateways.all()) {
    end = run_tidemark({"verify", "--connect", address, "--directory", directory.path().string()},
                       directory.path());
    if (end.exit_code == 0) return {};
  }
  return {"tidemark verify ended with " + std::to_string(end.exit_code) + ": " + end.said};
}

Load::Load(const Gateways& gateways, LoadOptions options) : gateways_(gateways), options_(options) {
  const WorkloadOptions& one = options_.workload;
  for (auto make : {make_ledger, make_linked_list, make_registers, make_counters, make_orders})
    workloads_.push_back(make(one));
}
Load::~Load() = default;

void Load::create() {
  SqlClient client(gateways_, options_.workload.seed, kReadPatience);
  for (const auto& workload : workloads_)
    for (const std::string& statement : workload->definitions()) client.ask_until_done(statement);
}

void Load::start() {
  for (const auto& workload : workloads_) workload->start(gateways_);
}

void Load::stop() {
  for (const auto& workload : workloads_) workload->stop();
}

Findings Load::verify() {
  stop();
  SqlClient client(gateways_, options_.workload.seed + 1, kReadPatience);
  Findings out;
  for (const auto& workload : workloads_) {
    append(out, workload->noticed());
    for (const ViewQuery& view : workload->views()) append(out, await_view(client, view, options_.converge));
    append(out, workload->check(client));
  }
  append(out, verify_by_program(gateways_));
  return out;
}

Tally Load::tally() const {
  Tally all;
  for (const auto& workload : workloads_) {
    const Tally one = workload->tally();
    all.done += one.done;
    all.not_done += one.not_done;
    all.unknown += one.unknown;
  }
  return all;
}

std::string Load::describe() const {
  const Tally all = tally();
  return std::to_string(all.done) + " writes acknowledged, " + std::to_string(all.not_done) + " not done, " +
         std::to_string(all.unknown) + " unknown";
}

}  // namespace tidemark::crash
