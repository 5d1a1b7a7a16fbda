// How many units each member should own: exact, by largest remainder.
#pragma once

#include <span>

#include "hashring/types.h"

namespace tidemark::hashring {

// Units per member, in the members' order; they add up to the ring. Each member gets its proportional share
// rounded down or up, and at least one unit: a member without any could hold no replica. Equal remainders are
// settled in favour of who holds more than its rounded-down share now, so that an unchanged set of members
// moves nothing and no choice of ties moves less.
// REQUIRES: check_members(members, size) accepts; held is empty or has one entry per member.
std::vector<u128> fair_shares(RingSize size, const Members& members, std::span<const u128> held,
                              Work* work = nullptr);

}  // namespace tidemark::hashring
