// What an operator may set for a storage node.
#pragma once

#include <functional>
#include <string>

#include "base/metrics.h"
#include "base/types.h"
#include "node/queue/stream_feed.h"
#include "node/region/region.h"
#include "wal/wal.h"

namespace tidemark {

struct NodeOptions {
  std::string name;         // Unique in the cluster; survives restarts.
  std::string address;      // Where others reach it.
  std::string sql_address;  // Where SQL clients reach it; may be empty.
  uint32_t weight = 1;      // Of its share of the regions.
  uint64_t cluster = 0;
  ShardCount shards;

  RegionOptions region;
  WalOptions wal;
  FeedOptions feed;

  Micros checkpoint_interval{30'000'000};
  // Views further behind than this hold client writes back. More than feed.silent_records_max: so far behind
  // may be who has nothing to do.
  uint64_t lag_records_max = 1'000'000;
  Micros reopen_delay{50'000};        // After an incarnation has ended.
  Micros refused_delay{30'000'000};   // A region whose log was refused is tried again.
  Micros pump_interval{50'000};       // Of queues that nothing happens to.
  Micros status_interval{1'000'000};  // A status that may have been lost is sent again.
  Micros seed_timeout{2'000'000};     // A standby without a checkpoint asks again.
  size_t seed_chunk_bytes = size_t{512} << 10;

  // Microseconds since 1970, for figures only. None: the loop's time.
  std::function<int64_t()> wall_clock_micros;
  Metrics* metrics = &no_metrics();  // Outlives the node.
  // What people should know; one line each. Never decides anything.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

}  // namespace tidemark
