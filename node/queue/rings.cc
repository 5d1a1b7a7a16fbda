#include "node/queue/rings.h"

#include <algorithm>

#include "base/assert.h"
#include "proto/convert.h"

namespace tidemark {

MemberIndex Rings::index_of(const std::string& identity) {
  auto found = std::find(identities_.begin(), identities_.end(), identity);
  if (found != identities_.end()) return static_cast<MemberIndex>(found - identities_.begin());
  identities_.push_back(identity);
  TM_ASSERT(identities_.size() <= UINT16_MAX);
  return static_cast<MemberIndex>(identities_.size() - 1);
}

Result<std::vector<MemberIndex>> Rings::expand(const pb::Ring& ring) {
  std::vector<MemberIndex> members;
  for (const std::string& name : ring.members()) members.push_back(index_of(name));
  std::vector<MemberIndex> owners(shards_.value, 0);
  for (const pb::Ring::Slice& slice : ring.slices()) {
    ShardRange range = from_pb(slice.shards());
    if (range.empty() || !shards_.all().contains(range) || slice.member() >= members.size()) {
      return Error{"ring " + std::to_string(ring.version()) + " has a malformed slice"};
    }
    std::fill(owners.begin() + range.begin.value, owners.begin() + range.end.value, members[slice.member()]);
  }
  return owners;
}

Status Rings::update(const pb::RingFact& fact) {
  std::map<RingVersion, std::vector<MemberIndex>> rings;
  std::vector<const pb::Ring*> all{&fact.ring()};
  for (const pb::Ring& ring : fact.previous()) all.push_back(&ring);
  for (const pb::Ring* ring : all) {
    RingVersion version{ring->version()};
    auto known = rings_.find(version);
    if (known != rings_.end()) {
      rings.emplace(version, known->second);
      continue;
    }
    Result<std::vector<MemberIndex>> owners = expand(*ring);
    if (!owners.ok()) return owners.error();
    rings.emplace(version, std::move(*owners));
  }
  rings_ = std::move(rings);
  newest_ = RingVersion{fact.ring().version()};
  policy_ = fact.policy();
  activated_ = RingVersion{fact.activated()};
  return {};
}

MemberIndex Rings::owner(RingVersion version, ShardId shard) const {
  return rings_.at(version)[shard.value];
}

}  // namespace tidemark
