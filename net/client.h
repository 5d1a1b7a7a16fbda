// The client of a cluster's tables: routes by the region directory, follows redirects, retries under the
// same request number, so that a write is done at most once, and says honestly when it does not know.
// Deterministic; lives on one loop; owns its transport's handlers. Many requests may be in flight; two
// writes in flight at once may be done in either order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/lane_runs.h"
#include "base/random.h"
#include "base/result.h"
#include "base/scheduler.h"
#include "net/region_directory.h"
#include "net/transport.h"
#include "proto/operation.h"
#include "proto/rows.h"

namespace tidemark {

enum class ClientError : uint8_t {
  Failed,          // The region said no: SQLSTATE and message. This request wrote nothing there.
  OutcomeUnknown,  // It may have been done, or may yet be.
  Refused,         // Not done: too large, malformed.
  StaleCatalog,    // Not done: bind again with a newer catalog.
  NotOneRegion,    // Not done: it was to be atomic, and its rows lie in several regions.
  TimedOut,        // Not done.
};
struct ClientFailure {
  ClientError code = ClientError::Failed;
  std::string message;
  size_t operation = 0;  // Failed: which one, by its index in the batch.
};

// Operations gathered for one write. Owns copies of all it is given.
class WriteBatch {
 public:
  void add(const Operation& operation);
  size_t size() const { return operations_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  friend class WriteTracker;
  struct Owned {
    uint64_t hash;
    std::string encoded;
  };
  std::vector<Owned> operations_;
  size_t bytes_ = 0;
};

enum class Atomicity : bool { PerRegion, Whole };

struct WriteOutcome {
  std::vector<uint32_t> rows_affected;  // Per operation.
  LaneRuns tokens;                      // Reads that wait for them see the write.
};

struct ScanSpec {
  TableId table;
  std::optional<uint64_t> hash;  // Only rows with this distribution hash ...
  std::string key_prefix;        // ... whose keys begin so.
  bool reverse = false;          // Only with a hash.
  uint32_t rows_max = 1000;      // Of one page.
};

// Where a scan goes on: after this row. Good across splits, merges and moves.
struct ScanPosition {
  uint64_t hash = 0;
  std::optional<std::string> after_key;  // None: at the first row with this hash or a later one.
};

struct RowPage {
  std::string rows;  // proto/rows.h.
  uint32_t count = 0;
  std::optional<ScanPosition> next;  // None: that was all.
};

struct KeyOfTable {
  uint64_t hash = 0;
  std::string key;
};

struct ClientOptions {
  ShardCount shards;
  Micros deadline{30'000'000};
  Micros reply_timeout{1'000'000};  // After which a request is sent again.
  Micros retry_delay_min{2'000};
  Micros retry_delay_max{500'000};
  uint32_t page_bytes_max = 1 << 20;
};

class Client {
 public:
  Client(Scheduler& scheduler, Transport& transport, RegionDirectory& directory, Random& random,
         ClientOptions options);
  ~Client();  // What is in flight is never called back.
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  template <typename T>
  using Done = std::function<void(Result<T, ClientFailure>)>;

  void write(WriteBatch batch, CatalogVersion catalog, Atomicity atomicity, Done<WriteOutcome> done);

  // Rows that are there, in no order; absent keys are left out.
  void get(TableId table, std::vector<KeyOfTable> keys, Done<std::string> rows);

  // One page of a scan.
  void scan(const ScanSpec& spec, ScanPosition from, Done<RowPage> done);

  // Waits until the tables reflect the tokens: `path` leads from the first table fed by the write to the
  // one to be read. The last one is waited for in the region of `shard` only, if one is given. Reads of this
  // client that begin later see at least as much, whoever answers them.
  void wait(std::vector<TableId> path, LaneRuns tokens, std::optional<ShardId> shard,
            Done<std::monostate> done);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
