// The ring of Q shards claimed by ranked tokens (Kolesnikov, "The Rings of Power 2"). Anyone who knows the
// members derives the same ring; no order of arrival matters and no present ring is needed.
#pragma once

#include <optional>

#include "hashring/assignment.h"

namespace tidemark::hashring {

struct TokenRingShape {
  uint32_t bits = 64;    // m: the hash space is [0, 2^m), 8 to 64.
  uint32_t shards = 0;   // Q.
  uint32_t tokens = 64;  // T: a member of weight w claims with hashes of rank 0 to w*T.
  auto operator<=>(const TokenRingShape&) const = default;
};

// A hash of `owner` that hit a shard. Among those that hit the same shard the lowest rank wins, then the
// highest hash, then the lowest id (the paper leaves two equal hashes of one rank open).
struct Claim {
  uint32_t rank;
  uint64_t hash;
  MemberId owner;
  bool operator==(const Claim&) const = default;
  bool beats(const Claim& other) const;
};

class TokenRing {
 public:
  // OutOfRange: bits, shards or the number of tokens can not be computed with.
  static Result<TokenRing> empty(TokenRingShape shape);
  static Result<TokenRing> of(TokenRingShape shape, const Members& members);

  // The ring of the members of both: per shard the better claim. A maximum, hence associative, commutative
  // and idempotent. RingsDiffer if the shapes do.
  Result<TokenRing> join(const TokenRing& other) const;
  // The same for one member more. OutOfRange as in of().
  Result<TokenRing> join(const Member& member) const;

  const TokenRingShape& shape() const { return shape_; }
  const std::optional<Claim>& claim(Shard shard) const { return claims_[shard.value]; }
  size_t claimed_count() const;
  // The last address of a shard, as the paper names shards.
  uint64_t last_address(Shard shard) const;

  // A shard that no token hit belongs to the owner of the nearest claimed one before it. On an empty ring
  // nobody owns anything.
  Assignment assignment() const;

  bool operator==(const TokenRing&) const = default;

 private:
  explicit TokenRing(TokenRingShape shape) : shape_(shape), claims_(shape.shards) {}
  Status claim_for(const Member& member);

  TokenRingShape shape_;
  std::vector<std::optional<Claim>> claims_;
};

}  // namespace tidemark::hashring
