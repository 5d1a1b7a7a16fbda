// What both ends of a queue must agree on.
#pragma once

#include <cstddef>

#include "proto/messages.pb.h"

namespace tidemark {

// What an entry takes of the queue's credit.
inline size_t queue_entry_cost(const pb::QueueEntry& entry) {
  constexpr size_t kEntryOverhead = 64;
  return entry.changes().size() + kEntryOverhead;
}

}  // namespace tidemark
