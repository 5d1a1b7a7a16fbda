// The faults that a nemesis chooses from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/cluster/disk.h"
#include "tests/cluster/tidemark_cluster.h"

namespace tidemark::crash {

// Of two faults at once each hits another group, so that a majority of each is left.
enum class Target : uint8_t { Node, ViewManager, Kafka, ZooKeeper };

struct Fault {
  std::string kind;
  Target target;
  // Does it, says what, and gives what makes it good again; nothing: it can't be done now.
  std::function<std::function<void()>(std::string& what)> inject;
};

struct FaultWorld {
  TidemarkCluster& cluster;
  size_t nodes;  // As many as there should be, but for a moment.
  Random& random;
  SmallDisk* disk;  // Of the node of that name; none: no disk is filled.
  std::string disk_node;
};

// REQUIRES: the world outlives them.
std::vector<Fault> make_faults(FaultWorld& world);

}  // namespace tidemark::crash
