#include "hashring/members.h"

#include <string_view>
#include <unordered_set>

namespace tidemark::hashring {

Status check_members(const Members& members, RingSize size) {
  if (members.empty()) return Error{Refusal::NoMembers, "there are no members"};
  if (size.units < members.size()) {
    return Error{Refusal::MoreMembersThanUnits, "more members (" + std::to_string(members.size()) +
                                                    ") than shards (" +
                                                    std::to_string(static_cast<uint64_t>(size.units)) + ")"};
  }
  std::unordered_set<std::string_view> names;
  std::unordered_set<uint32_t> ids;
  for (const Member& member : members) {
    if (member.weight == 0) return Error{Refusal::WeightZero, "the weight of '" + member.name + "' is zero"};
    if (!names.insert(member.name).second) {
      return Error{Refusal::DuplicateMember, "two members are named '" + member.name + "'"};
    }
    if (member.id == kNoMember || !ids.insert(member.id.value).second) {
      return Error{Refusal::DuplicateMember, "the id of '" + member.name + "' is taken or reserved"};
    }
  }
  return accepted();
}

Status check_equal_weights(const Members& members, const char* strategy) {
  for (const Member& member : members) {
    if (member.weight == members.front().weight) continue;
    return Error{Refusal::WeightsUnsupported, std::string(strategy) + " can not weigh members: '" +
                                                  member.name + "' and '" + members.front().name +
                                                  "' have different weights"};
  }
  return accepted();
}

}  // namespace tidemark::hashring
