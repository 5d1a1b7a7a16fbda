#include "tests/simulation/checkers/one_owner.h"

#include "base/bytes.h"
#include "proto/messages.pb.h"
#include "proto/operation.h"

namespace tidemark::sim {

void OneOwner::on_record(const SeenRecord& record, const SeenStream&) {
  if (!record.body || !record.body->has_commit()) return;
  for (const pb::RequestMark& mark : record.body->commit().requests()) {
    const Session session{mark.session().region(), mark.session().offset()};
    ByteReader outcome(mark.outcome());
    while (!outcome.done()) {
      const auto shard = outcome.varint32();
      outcome.varint();
      if (!outcome.ok()) break;
      done_.insert({session, mark.number(), shard});
    }
  }
}

void OneOwner::on_message(const Address& from, const Address& to, const pb::Message& message) {
  const ShardCount shards = evidence_.cluster.options().shards;
  if (message.has_write()) {
    const pb::WriteRequest& write = message.write();
    Asked asked{{write.session().region(), write.session().offset()}, write.number(), {}};
    Operation operation;
    for (OperationReader reader(write.operations()); reader.next(operation);)
      asked.shards.push_back(shards.shard_of(operation.hash));
    asked_[{from.value, message.request()}] = std::move(asked);
  } else if (message.has_written() && message.written().failed().empty()) {
    const auto asked = asked_.find({to.value, message.request()});
    if (asked == asked_.end()) return violated(from.value + " answers what nobody asked");
    for (ShardId shard : asked->second.shards) {
      if (done_.contains({asked->second.session, asked->second.number, shard.value})) continue;
      violated(from.value + " acknowledges a write to " + to.value + " that no log has");
    }
  }
}

}  // namespace tidemark::sim
