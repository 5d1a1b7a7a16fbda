#include "hashring/preference_list.h"

#include <algorithm>

#include "hashring/mix.h"

namespace tidemark::hashring {

namespace {

constexpr uint64_t kQueriesPerSliceMax = 16;  // So a rotation ends in its fifth round at the latest.

Error too_many(size_t replicas, size_t owners) {
  return {
      Refusal::TooManyReplicas,
      std::to_string(replicas) + " replicas need as many members; the ring has " + std::to_string(owners)};
}

}  // namespace

PreferenceList::PreferenceList(const SliceRing& ring, ReplicaPlacement placement, uint64_t key)
    : ring_(ring),
      placement_(placement),
      key_(key),
      at_(key),
      start_(ring.index_of(key)),
      clockwise_(start_),
      queries_max_(kQueriesPerSliceMax * ring.slice_count()) {}

std::optional<MemberId> PreferenceList::next() {
  while (given_.size() < ring_.owner_count()) {
    const MemberId member = probe();
    if (member == kNoMember || std::find(given_.begin(), given_.end(), member) != given_.end()) continue;
    given_.push_back(member);
    return member;
  }
  return std::nullopt;
}

MemberId PreferenceList::probe() {
  const bool is_first = queries_++ == 0;
  if (is_first) return ring_.owner_of(key_);
  if (placement_ == ReplicaPlacement::Clockwise || queries_ > queries_max_) {
    clockwise_ = (clockwise_ + 1) % ring_.slice_count();
    return ring_.slice(clockwise_).owner;
  }
  switch (placement_) {
    case ReplicaPlacement::Random: return ring_.slice(probe_random()).owner;
    case ReplicaPlacement::Rotation: return ring_.slice(probe_rotation()).owner;
    case ReplicaPlacement::Jumping: return ring_.slice(probe_jump()).owner;
    case ReplicaPlacement::Clockwise: break;
  }
  return kNoMember;
}

uint64_t PreferenceList::turned_by(u128 units) const {
  return static_cast<uint64_t>((key_ + units) % ring_.size().units);
}

size_t PreferenceList::probe_random() {
  return ring_.index_of(unit_of(draw(key_, queries_), ring_.size()));
}

size_t PreferenceList::probe_jump() {
  const u128 length = ring_.slice(ring_.index_of(at_)).length;
  at_ = static_cast<uint64_t>((at_ + length) % ring_.size().units);
  return ring_.index_of(at_);
}

// Each offset is computed from the slice's own length, never added up from rounded steps: a round ends
// exactly where it began.
size_t PreferenceList::probe_rotation() {
  const u128 length = ring_.slice((start_ + turn_.slice) % ring_.slice_count()).length;
  const size_t hit = ring_.index_of(turned_by(turn_.offset + ((length * turn_.part) >> turn_.round)));

  turn_.part += 2;
  if (turn_.part < u128{1} << turn_.round) return hit;
  turn_.part = 1;
  turn_.offset += length;
  if (++turn_.slice < ring_.slice_count()) return hit;
  turn_ = {.round = turn_.round + 1, .slice = 0, .part = 1, .offset = 0};
  return hit;
}

Result<std::vector<MemberId>> replica_list(const SliceRing& ring, ReplicaPlacement placement, uint64_t key,
                                           size_t replicas) {
  if (replicas > ring.owner_count()) return too_many(replicas, ring.owner_count());
  PreferenceList list(ring, placement, key);
  std::vector<MemberId> members;
  while (members.size() < replicas) members.push_back(*list.next());
  return members;
}

Result<std::vector<MemberId>> handoff_list(const SliceRing& ring, ReplicaPlacement placement, uint64_t key,
                                           size_t replicas, size_t count) {
  if (replicas > ring.owner_count()) return too_many(replicas, ring.owner_count());
  PreferenceList list(ring, placement, key);
  for (size_t i = 0; i < replicas; ++i) list.next();
  std::vector<MemberId> members;
  while (members.size() < count) {
    const std::optional<MemberId> member = list.next();
    if (!member) break;
    members.push_back(*member);
  }
  return members;
}

}  // namespace tidemark::hashring
