#include <algorithm>

#include "hashring/baselines/baselines.h"
#include "hashring/members.h"
#include "hashring/mix.h"

namespace tidemark::hashring {

namespace {

std::vector<MemberId> present_owners(const Assignment& present) {
  std::vector<MemberId> owners = present.owners();
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  if (!owners.empty() && owners.back() == kNoMember) owners.pop_back();
  return owners;
}

}  // namespace

// Jumps to the next bucket count at which the key would move: floor((b + 1) / r) for r uniform in (0, 1],
// here as an exact fraction.
uint32_t jump_bucket(uint64_t key, uint32_t buckets) {
  uint64_t bucket = 0;
  for (uint64_t next = 0; next < buckets;) {
    bucket = next;
    key = key * 2862933555777941757u + 1;
    next = ((bucket + 1) << 31) / ((key >> 33) + 1);
  }
  return static_cast<uint32_t>(bucket);
}

Result<Assignment> jump(const Members& members, const Assignment& present) {
  if (Status status = check_equal_weights(members, "jump hash"); !status) return status.error();
  std::vector<MemberId> ids;
  for (const Member& member : members) ids.push_back(member.id);
  std::sort(ids.begin(), ids.end());

  // Buckets are numbered; whoever has number i must keep it.
  const std::vector<MemberId> owners = present_owners(present);
  const size_t kept = std::min(ids.size(), owners.size());
  if (!std::equal(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), owners.begin())) {
    return Error{Refusal::RemovalUnsupported,
                 "jump hash can only add members at the end and remove them from the end"};
  }
  std::vector<MemberId> next(present.shards());
  for (uint32_t shard = 0; shard < present.shards(); ++shard) {
    next[shard] = ids[jump_bucket(mix(shard), static_cast<uint32_t>(ids.size()))];
  }
  return Assignment(std::move(next));
}

}  // namespace tidemark::hashring
