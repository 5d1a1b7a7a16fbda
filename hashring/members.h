// What every strategy asks of its members, checked in one place.
#pragma once

#include "hashring/result.h"
#include "hashring/types.h"

namespace tidemark::hashring {

// Refuses NoMembers, WeightZero, DuplicateMember (name or id, or the reserved id kNoMember) and
// MoreMembersThanUnits, and says which member it was.
Status check_members(const Members& members, RingSize size);

// For strategies that can not tell members apart by weight.
Status check_equal_weights(const Members& members, const char* strategy);

}  // namespace tidemark::hashring
