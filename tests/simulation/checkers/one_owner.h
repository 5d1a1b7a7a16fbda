// At most one owner of a region gets appends acknowledged (P1), and the last owner delivers (PTO4): whatever
// a node tells as done, to a client or to a view manager, is in the log and counts, under the fence in force.
#pragma once

#include <map>
#include <set>

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class OneOwner : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "P1 one acknowledged owner at a time"; }
  void on_record(const SeenRecord& record, const SeenStream& stream) override;
  void on_message(const Address& from, const Address& to, const pb::Message& message) override;

 private:
  using Session = std::pair<uint64_t, uint64_t>;            // Region, offset.
  std::set<std::tuple<Session, uint64_t, uint32_t>> done_;  // Session, number, shard: marked in a log.
  struct Asked {
    Session session;
    uint64_t number;
    std::vector<ShardId> shards;
  };
  std::map<std::pair<std::string, uint64_t>, Asked> asked_;  // By who asked, and under which request.
};

}  // namespace tidemark::sim
