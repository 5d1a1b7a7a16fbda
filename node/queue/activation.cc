#include "node/queue/activation.h"

#include "base/mutation.h"
#include "base/probe.h"

namespace tidemark {

MemberIndex active_at(const Rings& rings, ShardId lane, LaneView view,
                      const std::function<bool(MemberIndex)>& is_alive) {
  // Before the first cut nobody was responsible.
  bool is_first = view.at_committed.value == 0;
  if ((!is_first && !rings.has(view.at_committed)) || !rings.has(view.newest)) return 0;
  if (TM_MUTATION("activation before markers")) {
    MemberIndex early = rings.owner(view.newest, lane);
    return early != 0 && is_alive(early) ? early : 0;
  }
  MemberIndex owner = is_first ? MemberIndex{0} : rings.owner(view.at_committed, lane);
  if (owner == 0 || !is_alive(owner)) {  // The dead are not waited for.
    if (owner != 0) TM_PROBE("queues: a lane of the dead goes to its newest owner");
    MemberIndex newest = rings.owner(view.newest, lane);
    return newest != 0 && is_alive(newest) ? newest : 0;
  }
  if (TM_MUTATION("only the newest owner is activated") && view.at_committed != view.newest) {
    const RingVersion before{view.at_committed.value - 1};
    if (rings.has(before) && rings.owner(before, lane) != owner) return 0;
  }
  if (rings.policy() != pb::ACTIVATE_BY_COORDINATOR || view.at_committed <= rings.activated()) return owner;
  // Not yet activated: lanes that stay with their view manager, and those of the dead, go on.
  if (!rings.has(rings.activated())) return owner;
  MemberIndex before = rings.owner(rings.activated(), lane);
  return before == owner || before == 0 || !is_alive(before) ? owner : 0;
}

}  // namespace tidemark
