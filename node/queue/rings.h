// The rings that a node must know: the newest and those that some lane has not committed past yet. Lookup is
// an array read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "proto/facts.pb.h"

namespace tidemark {

// Identities of view managers get small numbers that stay the same over all rings. 0: nobody.
using MemberIndex = uint16_t;

class Rings {
 public:
  explicit Rings(ShardCount shards) : shards_(shards) {}

  // Replaces what was known. Error: malformed; nothing has changed.
  Status update(const pb::RingFact& fact);

  bool known() const { return newest_.value != 0; }
  RingVersion newest() const { return newest_; }
  pb::ActivationPolicy policy() const { return policy_; }
  RingVersion activated() const { return activated_; }

  // Is the ring of this version known?
  bool has(RingVersion version) const { return rings_.count(version) != 0; }
  // REQUIRES: has(version).
  MemberIndex owner(RingVersion version, ShardId shard) const;

  // Numbers are given on first sight and never change.
  MemberIndex index_of(const std::string& identity);
  const std::string& identity(MemberIndex index) const { return identities_.at(index); }
  size_t member_count() const { return identities_.size(); }  // Nobody included.

 private:
  Result<std::vector<MemberIndex>> expand(const pb::Ring& ring);

  ShardCount shards_;
  RingVersion newest_;
  pb::ActivationPolicy policy_ = pb::ACTIVATE_BY_NODE;
  RingVersion activated_;
  std::map<RingVersion, std::vector<MemberIndex>> rings_;
  std::vector<std::string> identities_{""};
};

}  // namespace tidemark
