// Where regions are, as far as this process knows. Always a hint: the region itself says who owns it.
#pragma once

#include <functional>

#include "base/types.h"
#include "net/transport.h"

namespace tidemark {

struct RegionPlace {
  RegionId region;
  ShardRange shards;
  NodeId owner;
  Address address;  // Of the owner; empty if it is not known to be alive.
};

class RegionDirectory {
 public:
  virtual ~RegionDirectory() = default;

  // The region that holds the shard. nullptr if nothing is known yet. Good until the next change.
  virtual const RegionPlace* find(ShardId shard) const = 0;

  // Somebody said that what we know is old.
  virtual void look_again() = 0;
};

}  // namespace tidemark
