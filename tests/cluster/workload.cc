#include "tests/cluster/workload.h"

#include "base/assert.h"

namespace tidemark::crash {
namespace {

constexpr size_t kNoticedMax = 20;

}  // namespace

Workload::Workload(std::string name, WorkloadOptions options)
    : name_(std::move(name)), options_(options), noticed_(options.writers) {}

Workload::~Workload() {
  TM_ASSERT(threads_.empty());  // The derived class is gone: its stop() came too late.
}

void Workload::start(const Gateways& gateways) {
  TM_ASSERT(threads_.empty());
  stopping_ = false;
  for (size_t i = 0; i < options_.writers; ++i)
    threads_.emplace_back([this, i, &gateways] { run(i, gateways); });
}

void Workload::stop() {
  stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workload::run(size_t writer, const Gateways& gateways) {
  Random random(options_.seed * 1000 + writer + counters_.done);
  SqlClient client(gateways, random.next(), options_.patience);
  while (!stopping_) {
    write_once(writer, client, random);
    std::this_thread::sleep_for(options_.pause);
  }
}

SqlAnswer Workload::write(size_t writer, SqlClient& client, const std::string& sql) {
  SqlAnswer answer = client.ask(sql);
  switch (answer.fate) {
    case Fate::Done: ++counters_.done; break;
    case Fate::NotDone: ++counters_.not_done; break;
    case Fate::Unknown: ++counters_.unknown; break;
  }
  // Refusals that no fault explains are bugs, here or there.
  const bool of_fault = answer.sqlstate.empty() || answer.sqlstate.starts_with("57P") ||
                        answer.sqlstate.starts_with("08") || answer.sqlstate == "40001";
  if (!answer.ok() && !of_fault)
    notice(writer, "refused: " + answer.sqlstate + " " + answer.message + " (" + sql + ")");
  return answer;
}

void Workload::notice(size_t writer, const std::string& what) {
  if (noticed_[writer].size() < kNoticedMax) noticed_[writer].push_back(name_ + ": " + what);
}

Tally Workload::tally() const {
  return {counters_.done, counters_.not_done, counters_.unknown};
}

Findings Workload::noticed() const {
  Findings all;
  for (const Findings& one : noticed_) append(all, one);
  return all;
}

std::map<std::string, std::string> rows_by_key(SqlClient& client, const std::string& query) {
  std::map<std::string, std::string> out;
  for (const auto& fields : client.ask_until_done(query).rows) {
    std::string row;
    for (size_t i = 1; i < fields.size(); ++i) row += (i > 1 ? "," : "") + fields[i];
    auto [place, is_new] = out.emplace(fields.at(0), row);
    if (!is_new) place->second += " and again " + row;  // As no writer ever wrote it.
  }
  return out;
}

}  // namespace tidemark::crash
