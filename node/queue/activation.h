// Which view manager each lane of a region is active at (PTO4, PTO5): the owner by the ring in force at the
// lane's committed position, or the newest owner if that one is dead. Pure.
#pragma once

#include <functional>
#include <vector>

#include "base/types.h"
#include "node/queue/rings.h"

namespace tidemark {

struct LaneView {
  RingVersion at_committed;  // The ring in force at the committed position.
  RingVersion newest;        // That of the stream's last cut.
};

// 0: the lane must wait. It has no live owner; or the policy is the coordinator's, the lane has moved, and
// the coordinator has not seen all markers acknowledged; or a ring is not known here yet.
MemberIndex active_at(const Rings& rings, ShardId lane, LaneView view,
                      const std::function<bool(MemberIndex)>& is_alive);

}  // namespace tidemark
