// Internal to sql/session: what the sessions of a process share.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/guarded_scheduler.h"
#include "coordinator/watched_directory.h"
#include "net/client.h"
#include "sql/session/catalog_changer.h"
#include "sql/session/catalog_snapshot.h"

namespace tidemark::sql {

// Who waits for the catalog to move.
class CatalogWaiters {
 public:
  // Called once, after the catalog has moved; dropped when the token has expired.
  void add(std::weak_ptr<int> token, std::function<void()> task) {
    waiting_.push_back({std::move(token), std::move(task)});
  }
  void call_all();

 private:
  struct Waiting {
    std::weak_ptr<int> token;
    std::function<void()> task;
  };
  std::vector<Waiting> waiting_;
};

// Lives on one loop, longer than the sessions.
struct ServiceState {
  Scheduler& scheduler;
  Random& random;
  ShardCount shards;
  std::string name;
  std::function<int64_t()> now_micros;  // Of the wall clock, as SQL counts: since 2000.
  WatchedDirectory& directory;
  Client& client;
  CatalogChanger& changer;
  std::function<void()> look_again;               // At the catalog.
  const VirtualTables* virtual_tables = nullptr;  // May be none.
  CatalogSnapshotPtr catalog = nullptr;           // Null: not known yet.
  CatalogWaiters catalog_waiters = {};
  size_t query_bytes_max = size_t{256} << 20;
  // Views whose rows are all there: those that were filled when this process came, and those that a read has
  // waited for since.
  std::set<TableId> complete_views = {};
};

// Between attempts while regions have not reached the catalog that a statement was bound with.
inline constexpr Micros kCatalogRetryDelay{5'000};
// How long a statement waits for them, and for answers of the coordinator.
inline constexpr Micros kCatalogDeadline{60'000'000};

}  // namespace tidemark::sql
