// Looks whether views have rows that could not be computed: one row of each error set is enough, all regions
// are asked at once.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sql/session/service_state.h"

namespace tidemark::sql {

class ErrorProbe {
 public:
  // `done` is called once, never from inside start(), with the first error found, or none.
  ErrorProbe(ServiceState& service, CatalogSnapshotPtr catalog, std::vector<CatalogTablePtr> views,
             std::function<void(std::optional<SqlError>)> done);

  void start();

 private:
  void ask(size_t view, const ScanPosition& from, uint64_t end);
  void on_page(size_t view, const ScanPosition& from, uint64_t end, Result<RowPage, ClientFailure> page);
  SqlError describe(const CatalogTable& view, std::string_view rows) const;
  void finish(std::optional<SqlError> found);

  ServiceState& service_;
  CatalogSnapshotPtr catalog_;
  std::vector<CatalogTablePtr> views_;  // Those that have an error set.
  std::function<void(std::optional<SqlError>)> done_;
  GuardedScheduler loop_;
  size_t asked_ = 0;
  bool finished_ = false;
};

}  // namespace tidemark::sql
