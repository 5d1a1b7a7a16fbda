// A node's disk: the rows of all its regions, which are a checkpoint of their streams and not the write path,
// and for each region the place in its stream from which to replay. In production a row cache over RocksDB;
// in tests and the simulation a map that forgets in a crash what a disk would. Lives on the node's loop.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "node/row_store.h"
#include "node/store/checkpoint.h"

namespace tidemark {

class NodeStore {
 public:
  virtual ~NodeStore() = default;

  virtual RowStore& rows() = 0;  // Room comes with the next save() that the disk takes.

  // As the last process left them.
  virtual const std::vector<Checkpoint>& loaded() const = 0;

  // The newest region map that the disk's first process saw; none: it has not seen any. Memberships that
  // began at or before it were another disk's. Set once, before anything else is written; durable at once.
  virtual std::optional<MapVersion> first_map() const = 0;
  virtual void set_first_map(MapVersion version) = 0;

  using Done = std::function<void(Status)>;
  // Makes all rows written so far durable and then, at once, these checkpoints: one at a time. Rows written
  // later may get there too. In between the loop goes on. Error: the old checkpoints are still the durable
  // ones; worth trying again.
  // REQUIRES: each checkpoint was taken no later than the rows on disk, that is: now.
  virtual void save(std::vector<Checkpoint> checkpoints, Done done) = 0;

  // Forgets a region's checkpoint, also one that is being saved. Takes effect before anything written later:
  // a disk that refuses it now takes nothing else before.
  virtual void forget(RegionId region) = 0;

  // Erases the rows of the shards, of every table. REQUIRES: no checkpoint covers them.
  virtual void erase_shards(ShardRange shards) = 0;
};

}  // namespace tidemark
