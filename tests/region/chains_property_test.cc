// Whoever sends, in whatever order, however often: at every moment the rows of a region are exactly the
// effects up to its applied positions (PTO2, PTO3, PTO5). Regions crash, split and merge meanwhile.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "node/store/store_key.h"
#include "proto/convert.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

constexpr uint32_t kLanes = 5;

struct LaneEffect {
  Position start;
  Position end;
  ShardId shard;
  std::string bytes;
  const TestTable* table;
  Cells cells;
};

// A believed part of the regions, and what was sent to it.
struct Chain {
  ShardRange range;
  std::map<uint32_t, Position> sent;
};

struct Sender {
  std::vector<Chain> chains{{kShards.all(), {}}};
  std::map<uint32_t, Position> floors;
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    catalog_.create_together({sums_.definition(), puts_.definition()});
    // Generation 0: what these regions know of their own lanes says nothing about the test's.
    regions_.push_back(
        std::make_unique<Rig>(RegionIdentity{RegionId{1}, kShards.all(), Generation{0}, kShards}));
    open(*regions_[0]);
    senders_.resize(1 + random_.below(3));
    effects_max_ = 1 + random_.below(6);
    loss_ = random_.chance(.5) ? 0 : .2;
    churn_ = random_.chance(.3) ? 0 : .05;
  }

  void run() {
    for (int step = 0; step < 250; ++step) {
      act();
      check();
      if (::testing::Test::HasFatalFailure()) return;
    }
    loss_ = 0;
    for (int round = 0; round < 400 && !is_complete(); ++round) {
      // Who waits too long for an answer asks for positions.
      for (auto& region : regions_)
        asked_.push_back({region.get(), region->positions(), round % std::ssize(senders_)});
      for (Sender& sender : senders_) send(sender);
      deliver_all();
    }
    ASSERT_TRUE(is_complete()) << "effects never applied";
    for (auto& region : regions_) {
      for (uint32_t x = 0; x < kLanes; ++x) region->committed_positions(lane(x), ends_[x]);
      region->settle();
      ASSERT_EQ(region->state().parts().size(), 1u);
    }
    check();
  }

 private:
  static ShardRange lane(uint32_t x) { return shards(x, x + 1); }

  void open(Rig& rig) {
    rig.catalog(catalog_);
    rig.open(++map_version_);
    rig.settle();
  }

  void act() {
    switch (random_.below(12)) {
      case 0:
      case 1: return grow();
      case 2:
      case 3:
      case 4: return send(senders_[random_.below(senders_.size())]);
      case 5:
      case 6: return deliver();
      case 7: return progress(*regions_[random_.below(regions_.size())]);
      case 8: return commit();
      case 9:
        if (random_.chance(.2)) senders_[random_.below(senders_.size())] = {};  // A successor.
        return;
      default: return random_.chance(churn_) ? churn() : progress(*regions_[random_.below(regions_.size())]);
    }
  }

  // One more record of a lane.
  void grow() {
    uint32_t x = static_cast<uint32_t>(random_.below(kLanes));
    uint64_t offset = ends_[x].offset.value;
    uint32_t count = static_cast<uint32_t>(random_.below(4));
    for (uint32_t i = 0; i < count; ++i) {
      LaneEffect effect;
      effect.start = pos(0, offset, i);
      effect.end = i + 1 == count ? pos(0, offset + 1) : pos(0, offset, i + 1);
      bool sum = random_.chance(.6);
      effect.table = sum ? &sums_ : &puts_;
      // A put row has one source lane; sums commute.
      int64_t key = static_cast<int64_t>(sum ? random_.below(6) : 100 * x + random_.below(3));
      effect.cells = sum ? Cells{key, 1, static_cast<int64_t>(random_.below(9))} : Cells{key, ++values_};
      effect.shard = kShards.shard_of(effect.table->encode(effect.cells).hash);
      add_effect(effect.bytes, sum ? EffectKind::Add : EffectKind::Put, *effect.table, effect.cells);
      effects_[x].push_back(std::move(effect));
    }
    ends_[x] = pos(0, offset + 1);
  }

  void send(Sender& sender) {
    Chain& chain = sender.chains[random_.below(sender.chains.size())];
    std::vector<LaneSpan> spans;
    std::string bytes;
    for (uint32_t x = 0; x < kLanes; ++x) {
      if (random_.chance(.3)) continue;
      Position floor = sender.floors[x];
      Position prev = std::max(chain.sent[x], floor);
      Position to = ends_[x];
      size_t taken = 0;
      std::string mine;
      for (const LaneEffect& effect : effects_[x]) {
        if (!chain.range.contains(effect.shard) || effect.end <= prev) continue;
        if (taken == effects_max_) {
          to = effect.start;
          break;
        }
        mine += effect.bytes;
        ++taken;
      }
      if (to <= prev) continue;
      bytes += mine;
      spans.push_back({lane(x), prev, to, floor});
      chain.sent[x] = to;
    }
    if (spans.empty()) return;
    net_.push_back({&sender - senders_.data(), make_batch(chain.range, spans, bytes, 1)});
    if (random_.chance(.2)) net_.push_back(net_.back());
  }

  Rig& owner(ShardId shard) {
    for (auto& region : regions_) {
      if (region->state().identity().shards.contains(shard)) return *region;
    }
    TM_UNREACHABLE();
  }

  void deliver() {
    if (net_.empty()) return;
    std::swap(net_[random_.below(net_.size())], net_.back());
    auto [sender, batch] = std::move(net_.back());
    net_.pop_back();
    if (random_.chance(loss_)) return;
    Rig& rig = owner(from_pb(batch.part()).begin);
    asked_.push_back({&rig, rig.effects(batch), sender});
    learn();
  }

  void deliver_all() {
    while (!net_.empty()) deliver();
    for (auto& region : regions_) region->settle();
    learn();
  }

  // Answers come back.
  void learn() {
    std::erase_if(asked_, [&](const Asked& asked) {
      if (!asked.rig->answered(asked.request)) return false;
      const pb::EffectAnswer& answer = asked.rig->reply(asked.request).effects_answer();
      if (answer.verdict() != pb::EffectAnswer::REFUSED || random_.chance(loss_)) return true;
      Sender& sender = senders_[static_cast<size_t>(asked.sender)];
      ShardRange told{from_pb(answer.parts(0).shards()).begin,
                      from_pb(answer.parts(answer.parts_size() - 1).shards()).end};
      std::vector<Chain> chains;
      for (const Chain& chain : sender.chains) {
        ShardRange before{chain.range.begin, std::min(chain.range.end, told.begin)};
        ShardRange after{std::max(chain.range.begin, told.end), chain.range.end};
        if (!before.empty()) chains.push_back({before, chain.sent});
        if (!after.empty()) chains.push_back({after, chain.sent});
      }
      for (const pb::Part& part : answer.parts()) {
        Chain& chain = chains.emplace_back(Chain{from_pb(part.shards()), {}});
        LaneRuns applied;
        for (const pb::LaneRun& run : part.applied())
          applied.set(from_pb(run.lanes()), from_pb(run.position()));
        for (uint32_t x = 0; x < kLanes; ++x) chain.sent[x] = applied.at(ShardId{x});
      }
      sender.chains = std::move(chains);
      return true;
    });
  }

  void progress(Rig& rig) {
    rig.tick(static_cast<int64_t>(random_.below(3'000)));
    if (random_.chance(.6)) rig.land(1 + random_.below(3));
    learn();
  }

  Position applied(ShardId shard, uint32_t x) {
    for (const RegionPart& part : owner(shard).state().parts().all()) {
      if (part.shards.contains(shard)) return part.applied.at(ShardId{x});
    }
    TM_UNREACHABLE();
  }

  // A lane's committed position is recorded in its source, and some sender hears of it.
  void commit() {
    for (uint32_t x = 0; x < kLanes; ++x) {
      Position committed = ends_[x];
      for (const LaneEffect& effect : effects_[x]) {
        if (effect.start < applied(effect.shard, x)) continue;
        committed = effect.start;
        break;
      }
      recorded_[x] = std::max(recorded_[x], committed);
      Sender& sender = senders_[random_.below(senders_.size())];
      sender.floors[x] = std::max(sender.floors[x], recorded_[x]);
      if (random_.chance(.3))
        regions_[random_.below(regions_.size())]->committed_positions(lane(x), recorded_[x]);
    }
  }

  // ---- regions come and go

  void churn() {
    uint64_t which = random_.below(3);
    size_t at = random_.below(regions_.size());
    if (which == 0) return crash(at);
    if (which == 1 && regions_.size() < 4 && regions_[at]->state().identity().shards.size() > 1)
      return split(at);
    if (which == 2 && at + 1 < regions_.size()) return merge(at);
  }

  void crash(size_t at) {
    Rig& rig = *regions_[at];
    rig.tick(5'000);
    rig.end(random_.below(3));
    // A new owner, from a snapshot of now and a log it reads anew.
    auto successor =
        std::make_unique<Rig>(*RegionState::from_snapshot(rig.state().to_snapshot()), rig.rows(), rig.log());
    ASSERT_EQ(successor->hash(), rig.hash());
    replace(at, std::move(successor));
    open(*regions_[at]);
  }

  void replace(size_t at, std::unique_ptr<Rig> by) {
    std::erase_if(asked_, [&](const Asked& asked) { return asked.rig == regions_[at].get(); });
    regions_[at] = std::move(by);
  }

  RegionFacts facts_of(Rig& rig, pb::RegionChange change, Generation generation) {
    RegionFacts out;
    out.map_version = MapVersion{++map_version_};
    out.entry.set_region(rig.state().identity().region.value);
    out.change = std::move(change);
    out.child_generation = generation;
    return out;
  }

  static void add_child(pb::RegionChange& change, RegionId region, ShardRange range) {
    auto& child = *change.add_children();
    child.set_region(region.value);
    *child.mutable_shards() = to_pb(range);
  }

  void split(size_t at) {
    Rig& rig = *regions_[at];
    RegionIdentity identity = rig.state().identity();
    ShardId middle{identity.shards.begin.value + 1 +
                   static_cast<uint32_t>(random_.below(identity.shards.size() - 1))};
    pb::RegionChange change;
    change.set_id(++changes_);
    change.add_parents(identity.region.value);
    change.set_phase(pb::RegionChange::SPLIT_SEAL);
    RegionId low{++last_region_}, high{++last_region_};
    add_child(change, low, {identity.shards.begin, middle});
    add_child(change, high, {middle, identity.shards.end});
    rig.facts(facts_of(rig, change, Generation{identity.generation.value + 1}));
    rig.settle();
    auto child = [&](RegionId id) {
      return std::make_unique<Rig>(RegionState::split_child(rig.state(), id), rig.rows(),
                                   std::make_shared<TestLog>());
    };
    auto lower = child(low), higher = child(high);
    replace(at, std::move(lower));
    regions_.insert(regions_.begin() + static_cast<ptrdiff_t>(at) + 1, std::move(higher));
    open(*regions_[at]);
    open(*regions_[at + 1]);
  }

  void merge(size_t at) {
    Rig& low = *regions_[at];
    Rig& high = *regions_[at + 1];
    bool low_first = random_.chance(.5);
    Generation generation{
        1 + std::max(low.state().identity().generation, high.state().identity().generation).value};
    pb::RegionChange change;
    change.set_id(++changes_);
    change.set_catalog_version(catalog_.version());
    RegionId child{++last_region_};
    add_child(change, child, {low.state().identity().shards.begin, high.state().identity().shards.end});
    change.add_parents((low_first ? low : high).state().identity().region.value);
    change.add_parents((low_first ? high : low).state().identity().region.value);
    for (auto phase : {pb::RegionChange::MERGE_MERGING, pb::RegionChange::MERGE_SEAL_FIRST,
                       pb::RegionChange::MERGE_SEAL_SECOND}) {
      change.set_phase(phase);
      for (Rig* rig : {&low, &high}) {
        rig->facts(facts_of(*rig, change, generation));
        rig->settle();
      }
    }
    MemoryRowStore rows = low.rows();
    rows.erase_shards(high.state().identity().shards);
    for (const auto& [place, row] : high.rows().all()) {
      DecodedStoreKey key = *decode_store_key(place);
      if (!high.state().identity().shards.contains(kShards.shard_of(key.hash))) continue;
      rows.put(key.table, key.hash, key.key, row);
    }
    auto merged = std::make_unique<Rig>(RegionState::merge_child(low.state(), high.state(), child), rows,
                                        std::make_shared<TestLog>());
    replace(at + 1, nullptr);
    regions_.erase(regions_.begin() + static_cast<ptrdiff_t>(at) + 1);
    replace(at, std::move(merged));
    open(*regions_[at]);
  }

  // ---- what must always hold

  void check() {
    for (auto& region : regions_) {
      for (const RegionPart& part : region->state().parts().all()) {
        std::map<std::pair<const TestTable*, int64_t>, Cells> want;
        for (uint32_t x = 0; x < kLanes; ++x) {
          for (const LaneEffect& effect : effects_[x]) {
            if (!part.shards.contains(effect.shard) || effect.start >= part.applied.at(ShardId{x})) continue;
            Cells& row = want[{effect.table, *effect.cells[0]}];
            if (effect.table == &puts_ || row.empty()) {
              row = effect.cells;
            } else {
              for (size_t i = 1; i < row.size(); ++i) *row[i] += *effect.cells[i];
            }
          }
        }
        std::map<std::pair<const TestTable*, int64_t>, Cells> have;
        for (const TestTable* table : {&sums_, &puts_}) {
          for (const Cells& row : region->all(*table)) {
            if (part.shards.contains(kShards.shard_of(table->encode(row).hash))) have[{table, *row[0]}] = row;
          }
        }
        ASSERT_EQ(have, want) << "part " << part.shards;
      }
    }
  }

  bool is_complete() {
    for (uint32_t x = 0; x < kLanes; ++x) {
      for (const LaneEffect& effect : effects_[x]) {
        if (applied(effect.shard, x) <= effect.start) return false;
      }
    }
    return true;
  }

  struct Asked {
    Rig* rig;
    uint64_t request;
    ptrdiff_t sender;
  };

  Random random_;
  TestTable sums_{define({.id = 1, .kind = pb::AUXILIARY, .rule = pb::SUM, .values = 2})};
  TestTable puts_{define({.id = 2, .kind = pb::AUXILIARY})};
  TestCatalog catalog_;
  std::vector<std::unique_ptr<Rig>> regions_;
  uint64_t map_version_ = 0;
  uint64_t last_region_ = 1;
  uint64_t changes_ = 0;
  std::array<std::vector<LaneEffect>, kLanes> effects_;
  std::array<Position, kLanes> ends_{};
  std::array<Position, kLanes> recorded_{};
  int64_t values_ = 0;
  std::vector<Sender> senders_;
  std::vector<std::pair<ptrdiff_t, pb::EffectBatch>> net_;
  std::vector<Asked> asked_;
  size_t effects_max_ = 1;
  double loss_ = 0;
  double churn_ = 0;
};

TEST(ChainsProperty, RowsAreAlwaysTheEffectsUpToTheAppliedPositions) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World(seed).run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tidemark
