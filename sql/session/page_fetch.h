// The stored rows of one scan, page by page: at most one page ahead of what was taken.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sql/parse/try.h"
#include "sql/session/service_state.h"

namespace tidemark::sql {

// What is asked for: one row by its key, those with a hash and a prefix, or all.
struct FetchSpec {
  TableId table;
  std::optional<KeyOfTable> key;
  std::optional<uint64_t> hash;
  std::string key_prefix;
  uint32_t rows_max = 1000;
};

class PageFetch {
 public:
  // Asks for the first page at once. `on_page` is called when one has come, or a failure.
  PageFetch(ServiceState& service, FetchSpec spec, std::function<void()> on_page);

  enum class State : uint8_t { Ready, Pending, End };
  // Ready: take() gives a page, proto/rows.h. An error is final.
  Result<State, SqlError> state() const;
  // Asks for the next one. REQUIRES: Ready.
  std::string take();

 private:
  void ask();
  void on_rows(std::string rows, std::optional<ScanPosition> next);
  void on_failure(const ClientFailure& failure);

  ServiceState& service_;
  GuardedScheduler loop_;
  const FetchSpec spec_;
  std::function<void()> on_page_;
  std::optional<ScanPosition> at_ = ScanPosition{};
  std::optional<std::string> page_;
  std::optional<SqlError> failure_;
  Micros give_up_{};
};

}  // namespace tidemark::sql
