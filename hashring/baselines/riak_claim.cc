#include <algorithm>
#include <unordered_map>
#include <utility>

#include "hashring/baselines/baselines.h"
#include "hashring/members.h"

namespace tidemark::hashring {

namespace {

// Dealt out in rounds of nearly equal length, each in the members' order: two shards of one member are a
// round apart, also where the last round meets the first.
Assignment dealt_out(const Members& members, uint32_t shards) {
  const uint64_t rounds = (shards + members.size() - 1) / members.size();
  std::vector<MemberId> owners;
  owners.reserve(shards);
  for (uint64_t round = 0; round < rounds; ++round) {
    const uint64_t length = shards * (round + 1) / rounds - shards * round / rounds;
    for (uint64_t i = 0; i < length; ++i) owners.push_back(members[i].id);
  }
  return Assignment(std::move(owners));
}

enum class Spacing : bool { Kept, Ignored };

class Claims {
 public:
  Claims(const Members& members, const Assignment& present, uint32_t distance)
      : members_(members), owners_(present.owners()), distance_(distance) {
    for (const Member& member : members) held_[member.id.value] = 0;
    for (MemberId& owner : owners_) {
      const auto at = held_.find(owner.value);
      if (at == held_.end()) {
        owner = kNoMember;
      } else {
        ++at->second;
      }
    }
  }

  Assignment run(Spacing spacing) {
    const size_t least = owners_.size() / members_.size();
    for (const Member& member : members_) claim(member.id, least, spacing);
    // What is left of a leaver's goes to those who have least, of those who are apart from it.
    for (uint32_t shard = 0; shard < owners_.size(); ++shard) {
      if (owners_[shard] == kNoMember) give(shard, best_heir(shard, spacing));
    }
    return Assignment(std::move(owners_));
  }

 private:
  bool is_spare(uint32_t shard, size_t least) const {
    const MemberId owner = owners_[shard];
    return owner == kNoMember || held_.at(owner.value) > least;
  }
  bool is_apart(uint32_t shard, MemberId member) const {
    const size_t shards = owners_.size();
    for (uint32_t d = 1; d < distance_; ++d) {
      if (owners_[(shard + d) % shards] == member || owners_[(shard + shards - d) % shards] == member)
        return false;
    }
    return true;
  }
  void give(uint32_t shard, MemberId member) {
    if (owners_[shard] != kNoMember) --held_[owners_[shard].value];
    owners_[shard] = member;
    ++held_[member.value];
  }
  void claim(MemberId member, size_t least, Spacing spacing) {
    for (uint32_t shard = 0; shard < owners_.size() && held_[member.value] < least; ++shard) {
      if (owners_[shard] == member || !is_spare(shard, least)) continue;
      if (spacing == Spacing::Ignored || is_apart(shard, member)) give(shard, member);
    }
  }
  MemberId best_heir(uint32_t shard, Spacing spacing) const {
    const auto rank = [&](const Member& member) {
      return std::pair(spacing == Spacing::Kept && !is_apart(shard, member.id), held_.at(member.id.value));
    };
    return std::min_element(members_.begin(), members_.end(),
                            [&](const Member& a, const Member& b) { return rank(a) < rank(b); })
        ->id;
  }

  const Members& members_;
  std::vector<MemberId> owners_;
  uint32_t distance_;
  std::unordered_map<uint32_t, size_t> held_;
};

}  // namespace

bool keeps_distance(const Assignment& assignment, uint32_t distance) {
  const uint32_t shards = assignment.shards();
  for (uint32_t shard = 0; shard < shards; ++shard) {
    for (uint32_t d = 1; d < distance; ++d) {
      if (assignment.owner({shard}) == assignment.owner({(shard + d) % shards})) return false;
    }
  }
  return true;
}

Result<Assignment> riak_claim(const Members& members, const Assignment& present, uint32_t distance) {
  if (Status status = check_equal_weights(members, "riak-claim"); !status) return status.error();
  const bool is_new = std::all_of(present.owners().begin(), present.owners().end(),
                                  [](MemberId owner) { return owner == kNoMember; });
  Assignment fresh = dealt_out(members, present.shards());
  if (is_new) return fresh;
  const bool can_be_apart = keeps_distance(fresh, distance);
  Assignment claimed =
      Claims(members, present, distance).run(can_be_apart ? Spacing::Kept : Spacing::Ignored);
  return can_be_apart && !keeps_distance(claimed, distance) ? fresh : claimed;
}

}  // namespace tidemark::hashring
