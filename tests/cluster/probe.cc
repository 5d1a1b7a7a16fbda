#include "tests/cluster/probe.h"

#include <algorithm>
#include <mutex>

namespace tidemark::crash {
namespace {

constexpr std::chrono::milliseconds kInterval{200};
constexpr std::chrono::milliseconds kPatience{1000};  // Then another gateway is asked.

}  // namespace

struct Probe::Row {
  mutable std::mutex mutex;
  Clock::time_point waiting_since{};  // Of the write under way; nothing: none is.
  Clock::time_point last_began{};     // Of the last write that was acknowledged.
  Clock::duration longest{};
};

Probe::Probe(const Gateways& gateways, size_t rows) : gateways_(gateways) {
  for (size_t i = 0; i < rows; ++i) rows_.push_back(std::make_unique<Row>());
}

Probe::~Probe() {
  stop();
}

void Probe::start() {
  SqlClient client(gateways_, 1);
  client.ask_until_done("create table if not exists probe (k bigint primary key, n bigint)");
  stopping_ = false;
  for (size_t i = 0; i < rows_.size(); ++i) threads_.emplace_back([this, i] { run(i, *rows_[i]); });
}

void Probe::stop() {
  stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Probe::run(size_t number, Row& row) {
  SqlClient client(gateways_, number, kPatience);
  const std::string key = std::to_string(number);
  for (uint64_t n = 1; !stopping_; ++n) {
    const auto began = Clock::now();
    {
      const std::lock_guard lock(row.mutex);
      row.waiting_since = began;
    }
    const std::string sql = "insert into probe values (" + key + ", " + std::to_string(n) +
                            ") on conflict (k) do update set n = excluded.n";
    auto attempt = began;
    while (!client.ask(sql).ok() && !stopping_) attempt = Clock::now();
    {
      const std::lock_guard lock(row.mutex);
      row.longest = std::max(row.longest, Clock::now() - began);
      row.last_began = attempt;
      row.waiting_since = {};
    }
    std::this_thread::sleep_for(kInterval);
  }
}

bool Probe::all_written_since(Clock::time_point since) const {
  return std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) {
    const std::lock_guard lock(row->mutex);
    return row->last_began > since;
  });
}

std::chrono::milliseconds Probe::take_longest_wait() {
  Clock::duration longest{};
  for (const auto& row : rows_) {
    const std::lock_guard lock(row->mutex);
    longest = std::max(longest, row->longest);
    if (row->waiting_since != Clock::time_point())
      longest = std::max(longest, Clock::now() - row->waiting_since);
    row->longest = {};
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(longest);
}

}  // namespace tidemark::crash
