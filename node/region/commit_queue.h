// The owner's appends: the commit that is being put together, and the records behind which it will lie, in
// flight or waiting for room. It gives each record its offset: dense, from the incarnation's fence on.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "node/region/commands.h"
#include "proto/log.pb.h"

namespace tidemark {

struct CommitLimits {
  size_t record_bytes_max = 900'000;
  size_t in_flight_bytes_max = size_t{8} << 20;
  size_t in_flight_records_max = 8;
};

class CommitQueue {
 public:
  CommitQueue(Offset next, CommitLimits limits) : limits_(limits), next_(next) {}

  // ---- the commit being put together

  bool is_open() const { return open_bytes_ > 0; }
  bool has_changes() const { return is_open() && !open_->commit().changes().empty(); }
  Micros opened_at() const { return opened_at_; }
  bool fits(size_t bytes) const {
    return open_bytes_ == 0 || open_bytes_ + bytes <= limits_.record_bytes_max;
  }
  bool is_full() const { return open_bytes_ >= limits_.record_bytes_max; }
  // Adds changes; marks and positions go into the commit returned. It will lie at next().
  // REQUIRES: fits(bytes).
  pb::Commit& add(std::string_view changes, size_t bytes, Micros now);
  // Ends it. REQUIRES: is_open().
  std::shared_ptr<const pb::RecordBody> close(CatalogVersion version, int64_t written_at_micros);

  // ---- other records. REQUIRES: !is_open()

  Offset append(std::shared_ptr<const pb::RecordBody> body);
  Offset append_seal(std::shared_ptr<const pb::Seal> seal);

  // ---- order

  Offset next() const { return next_; }
  // The last record told of so far, the open commit included. None: all is durable.
  std::optional<Offset> last() const;
  size_t size() const { return flight_.size(); }  // Records not yet durable.
  size_t sent() const { return sent_; }           // Those of them that are at the log.
  size_t unsent() const { return flight_.size() - sent_; }
  size_t unsent_bytes() const { return unsent_bytes_; }
  bool has_room() const { return unsent() == 0 && may_send(); }

  // Hands over what there is room for.
  void send(RegionCommands& out);
  // The record has become durable. None: it is not the next of ours.
  std::optional<DecodedRecord> take_durable(Offset at);

 private:
  struct Flight {
    DecodedRecord record;
    size_t bytes = 0;
    std::string payload;  // Until sent.
  };
  bool may_send() const {
    return sent_ < limits_.in_flight_records_max && sent_bytes_ < limits_.in_flight_bytes_max;
  }
  Offset push(DecodedRecord record, std::string payload);

  CommitLimits limits_;
  Offset next_;
  std::shared_ptr<pb::RecordBody> open_;
  size_t open_bytes_ = 0;
  Micros opened_at_;
  std::deque<Flight> flight_;  // The first sent_ are at the log.
  size_t sent_ = 0;
  size_t sent_bytes_ = 0;
  size_t unsent_bytes_ = 0;
};

}  // namespace tidemark
