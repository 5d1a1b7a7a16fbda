// SQL in front of a cluster: what the gateways of one process run statements with. A core: deterministic, no
// clock, socket or thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/client.h"
#include "net/process_context.h"
#include "sql/gateway/session.h"

namespace tidemark::sql {

struct SqlServiceOptions {
  ShardCount shards;
  std::string name;                            // Of the process, for people.
  std::function<int64_t()> wall_clock_micros;  // now() and friends; none: the loop's time.
  size_t query_bytes_max = size_t{256} << 20;  // Of rows that a query sorts, groups or joins.
  ClientOptions client;                        // shards is set from above.
};

// All that the SQL sessions of one process share: the client, the region directory, the catalog and its
// plans. Lives on one loop.
class SqlService {
 public:
  // Takes over the transport's handlers (the transport is its own: nobody else receives on it).
  // REQUIRES: what the context refers to outlives it.
  SqlService(const ProcessContext& context, SqlServiceOptions options);
  ~SqlService();  // REQUIRES: its sessions are gone.
  SqlService(const SqlService&) = delete;
  SqlService& operator=(const SqlService&) = delete;

  // Error: the catalog is not known yet (57P03).
  Result<std::unique_ptr<Session>, SqlError> make_session(const SessionRequest& request);

  // The region map is complete, all regions have a live owner, the catalog is known.
  bool ready() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::sql
