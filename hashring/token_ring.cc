#include "hashring/token_ring.h"

#include <algorithm>

#include "hashring/members.h"
#include "hashring/sha1.h"

namespace tidemark::hashring {

namespace {

// Beyond this a ring takes seconds to derive; nobody means it.
constexpr uint64_t kTokensMax = 1u << 22;

std::string followed_by(const std::string& name, const Sha1Digest& digest) {
  std::string bytes = name;
  bytes.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return bytes;
}

}  // namespace

bool Claim::beats(const Claim& other) const {
  if (rank != other.rank) return rank < other.rank;
  if (hash != other.hash) return hash > other.hash;
  return owner < other.owner;
}

Result<TokenRing> TokenRing::empty(TokenRingShape shape) {
  if (shape.bits < 8 || shape.bits > 64) return Error{Refusal::OutOfRange, "m must be from 8 to 64 bits"};
  const bool fits = shape.shards >= 1 && shape.shards <= kShardsMax &&
                    (shape.bits > 32 || u128{shape.shards} <= u128{1} << shape.bits);
  if (!fits) return Error{Refusal::OutOfRange, "the number of shards must be from 1 to 2^m and 2^24"};
  return TokenRing(shape);
}

Result<TokenRing> TokenRing::of(TokenRingShape shape, const Members& members) {
  Result<TokenRing> ring = empty(shape);
  if (!ring) return ring;
  if (Status status = check_members(members, {shape.shards}); !status) return status.error();
  TokenRing joined = *std::move(ring);
  for (const Member& member : members) {
    if (Status status = joined.claim_for(member); !status) return status.error();
  }
  return joined;
}

Result<TokenRing> TokenRing::join(const TokenRing& other) const {
  if (shape_ != other.shape_) return Error{Refusal::RingsDiffer, "only rings of one shape can be joined"};
  TokenRing joined = *this;
  for (size_t i = 0; i < claims_.size(); ++i) {
    std::optional<Claim>& mine = joined.claims_[i];
    const std::optional<Claim>& theirs = other.claims_[i];
    if (theirs && (!mine || theirs->beats(*mine))) mine = theirs;
  }
  return joined;
}

Result<TokenRing> TokenRing::join(const Member& member) const {
  TokenRing joined = *this;
  if (Status status = joined.claim_for(member); !status) return status.error();
  return joined;
}

Status TokenRing::claim_for(const Member& member) {
  const u128 ranks = u128{member.weight} * shape_.tokens + 1;
  if (ranks > kTokensMax) {
    return Error{Refusal::OutOfRange, "weight times tokens of '" + member.name + "' is above 2^22"};
  }
  Sha1Digest digest = sha1(member.name);
  for (uint32_t rank = 0; rank < static_cast<uint32_t>(ranks); ++rank) {
    if (rank > 0) digest = sha1(followed_by(member.name, digest));
    const Claim claim{rank, top_bits(digest) >> (64 - shape_.bits), member.id};
    const auto shard = static_cast<size_t>((u128{claim.hash} * shape_.shards) >> shape_.bits);
    std::optional<Claim>& present = claims_[shard];
    if (!present || claim.beats(*present)) present = claim;
  }
  return accepted();
}

size_t TokenRing::claimed_count() const {
  return static_cast<size_t>(
      std::count_if(claims_.begin(), claims_.end(), [](const auto& claim) { return claim.has_value(); }));
}

uint64_t TokenRing::last_address(Shard shard) const {
  const u128 end = ((u128{shard.value} + 1) << shape_.bits);
  return static_cast<uint64_t>((end - 1) / shape_.shards);
}

Assignment TokenRing::assignment() const {
  std::vector<MemberId> owners(claims_.size(), kNoMember);
  MemberId owner = kNoMember;
  // Twice around: the first shards may belong to the owner of the last ones.
  for (size_t i = 0; i < 2 * claims_.size(); ++i) {
    const size_t shard = i % claims_.size();
    if (claims_[shard]) owner = claims_[shard]->owner;
    owners[shard] = owner;
  }
  return Assignment(std::move(owners));
}

}  // namespace tidemark::hashring
