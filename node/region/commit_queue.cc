#include "node/region/commit_queue.h"

#include <utility>

#include "base/assert.h"

namespace tidemark {

pb::Commit& CommitQueue::add(std::string_view changes, size_t bytes, Micros now) {
  TM_ASSERT(fits(bytes), bytes);
  TM_ASSERT(bytes > 0);
  if (!is_open()) {
    open_ = std::make_shared<pb::RecordBody>();
    opened_at_ = now;
  }
  open_bytes_ += bytes;
  pb::Commit& commit = *open_->mutable_commit();
  commit.mutable_changes()->append(changes);
  return commit;
}

std::shared_ptr<const pb::RecordBody> CommitQueue::close(CatalogVersion version, int64_t written_at_micros) {
  TM_ASSERT(is_open());
  open_->set_catalog_version(version.value);
  open_->set_written_at_micros(written_at_micros);
  open_bytes_ = 0;
  std::shared_ptr<const pb::RecordBody> body = std::move(open_);
  append(body);
  return body;
}

Offset CommitQueue::append(std::shared_ptr<const pb::RecordBody> body) {
  std::string payload = body->SerializeAsString();
  return push({next_, RecordKind::Body, std::move(body), nullptr}, std::move(payload));
}

Offset CommitQueue::append_seal(std::shared_ptr<const pb::Seal> seal) {
  std::string payload = seal->SerializeAsString();
  return push({next_, RecordKind::Seal, nullptr, std::move(seal)}, std::move(payload));
}

Offset CommitQueue::push(DecodedRecord record, std::string payload) {
  TM_ASSERT(!is_open());
  size_t bytes = payload.size();
  unsent_bytes_ += bytes;
  flight_.push_back({std::move(record), bytes, std::move(payload)});
  return Offset{next_.value++};
}

std::optional<Offset> CommitQueue::last() const {
  if (is_open()) return next_;
  if (flight_.empty()) return std::nullopt;
  return flight_.back().record.at;
}

void CommitQueue::send(RegionCommands& out) {
  for (; unsent() > 0 && may_send(); ++sent_) {
    Flight& flight = flight_[sent_];
    sent_bytes_ += flight.bytes;
    unsent_bytes_ -= flight.bytes;
    out.appends.push_back({flight.record.at, flight.record.kind, std::move(flight.payload)});
  }
}

std::optional<DecodedRecord> CommitQueue::take_durable(Offset at) {
  if (sent_ == 0 || flight_.front().record.at != at) return std::nullopt;
  DecodedRecord out = std::move(flight_.front().record);
  sent_bytes_ -= flight_.front().bytes;
  flight_.pop_front();
  --sent_;
  return out;
}

}  // namespace tidemark
