// Through which operators write the effects of a change. It numbers them within their lane, so that a
// position can lie between two effects of one record.
#pragma once

#include <string_view>
#include <vector>

#include "base/types.h"
#include "proto/effect.h"
#include "view_manager/entry.h"

namespace tidemark {

// The next step of each lane within one record. Forgetting all is one addition.
class StepCounters {
 public:
  explicit StepCounters(ShardCount shards) : counters_(shards.value) {}
  void begin_record() { ++record_; }
  uint32_t& of(ShardId lane) {
    Counter& counter = counters_[lane.value];
    if (counter.record != record_) counter = {record_, 0};
    return counter.next;
  }

 private:
  struct Counter {
    uint64_t record = 0;
    uint32_t next = 0;
  };
  std::vector<Counter> counters_;
  uint64_t record_ = 0;
};

class EffectWriter {
 public:
  EffectWriter(EffectEntry& entry, ShardCount shards, StepCounters& steps)
      : entry_(entry), shards_(shards), steps_(steps) {}

  // What follows comes from a change of this lane; effects before `first_step` are done already.
  void enter_lane(ShardId lane, uint32_t first_step) {
    lane_ = lane;
    first_step_ = first_step;
    next_ = &steps_.of(lane);
  }

  void put(TableId table, uint64_t hash, std::string_view key, std::string_view row) {
    write({EffectKind::Put, table, hash, key, row});
  }
  void erase(TableId table, uint64_t hash, std::string_view key) {
    write({EffectKind::Delete, table, hash, key, {}});
  }
  void add(TableId table, uint64_t hash, std::string_view key, std::string_view row) {
    write({EffectKind::Add, table, hash, key, row});
  }

 private:
  void write(const Effect& effect) {
    uint32_t step = (*next_)++;
    if (step >= first_step_) entry_.append(lane_, step, shards_, effect);
  }

  EffectEntry& entry_;
  const ShardCount shards_;
  StepCounters& steps_;
  ShardId lane_;
  uint32_t first_step_ = 0;
  uint32_t* next_ = nullptr;
};

}  // namespace tidemark
