// Two storage nodes while everything goes wrong at once: kills, moves, splits, merges, view managers that
// come and go, a log with every fault of Kafka's. A seed decides all of it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/node/node_bed.h"

namespace tidemark {
namespace {

class World {
 public:
  explicit World(uint64_t seed) : bed_(seed, faults(seed)) {
    bed_.start("n1");
    bed_.start("n2");
    bed_.start_view_manager("v1");
    bed_.set_ring(std::vector<std::string>(8, "v1"));
    bed_.bootstrap({"n1", "n2"});
  }

  void run() {
    for (int step = 0; step < 60 && !testing::Test::HasFatalFailure(); ++step) {
      random_step();
      for (uint64_t left = bed_.random.below(400); left > 0; --left) bed_.scheduler.run_one();
    }
    if (!testing::Test::HasFatalFailure()) settle();
  }

 private:
  static MemoryLogFaults faults(uint64_t seed) {
    MemoryLogFaults out;
    if (seed % 3 == 0) return out;
    out.late = out.unknown = out.no_offset = out.duplicate = out.duplicate_reported = out.lost = 0.02;
    out.unavailable = 0.01;
    return out;
  }

  void random_step() {
    uint64_t kind = bed_.random.below(100);
    if (kind < 50) return write_some();
    if (kind < 65) return crash_or_start(bed_.random.chance(0.5) ? "n1" : "n2");
    if (kind < 80) return move_some();
    if (kind < 88) return split_some();
    if (kind < 94) return merge_some();
    return change_ring();
  }

  void write_some() {
    for (int i = 0; i < 10; ++i) {
      std::string key = "key" + std::to_string(bed_.random.below(80));
      if (!bed_.is_in_flight(key)) bed_.write(key, std::to_string(number_++));
    }
  }

  void crash_or_start(const std::string& name) {
    if (bed_.is_up(name)) {
      bed_.crash(name);
    } else {
      bed_.start(name);
    }
  }

  std::vector<uint64_t> live() const {
    std::vector<uint64_t> out;
    for (const pb::RegionEntry& entry : bed_.map().regions()) {
      if (!entry.sealed()) out.push_back(entry.region());
    }
    return out;
  }
  uint64_t any_live() {
    std::vector<uint64_t> all = live();
    return all[bed_.random.below(all.size())];
  }

  void move_some() {
    std::string to = bed_.random.chance(0.5) ? "n1" : "n2";
    bed_.move(any_live(), to);
  }

  // The protocol waits for positions, which any owner can advance: both nodes live through it here.
  void bring_all_up() {
    for (const char* name : {"n1", "n2"}) {
      if (!bed_.is_up(name)) bed_.start(name);
    }
  }

  void split_some() {
    uint64_t region = any_live();
    pb::RegionEntry entry;
    for (const auto& each : bed_.map().regions()) {
      if (each.region() == region) entry = each;
    }
    if (live().size() > 3 || entry.shards().end() - entry.shards().begin() < 2) return;
    bring_all_up();
    uint32_t width = entry.shards().end() - entry.shards().begin();
    bed_.split(region, entry.shards().begin() + 1 + static_cast<uint32_t>(bed_.random.below(width - 1)));
  }

  void merge_some() {
    for (const pb::RegionEntry& low : bed_.map().regions()) {
      for (const pb::RegionEntry& high : bed_.map().regions()) {
        if (low.sealed() || high.sealed() || low.shards().end() != high.shards().begin()) continue;
        bring_all_up();
        uint64_t first = low.region();
        uint64_t second = high.region();
        return bed_.merge(first, second);
      }
    }
  }

  void change_ring() {
    if (!second_) bed_.start_view_manager("v2");
    second_ = true;
    std::vector<std::string> ring;
    for (int i = 0; i < 8; ++i) ring.push_back(bed_.random.chance(0.5) ? "v1" : "v2");
    bed_.set_ring(ring);
  }

  std::set<std::string> seen() {
    std::set<std::string> out;
    for (const char* name : {"v1", "v2"}) {
      if (name == std::string("v2") && !second_) continue;
      for (const auto& [lane, changes] : bed_.view_manager(name).seen()) {
        for (const auto& change : changes) out.insert(change.text);
      }
    }
    return out;
  }

  // An acknowledged write, with its lane, that no view manager has seen; empty: there is none.
  std::string missing() {
    std::set<std::string> texts = seen();
    for (const auto& [key, written] : bed_.written()) {
      for (const std::string& text : written) {
        if (bed_.acknowledged().count(text) == 0 || texts.count(text) != 0) continue;
        return text + " of lane " + std::to_string(kBedShards.shard_of(NodeBed::hash_of(key)).value);
      }
    }
    return "";
  }

  void settle() {
    bed_.logs.set_faults({});
    bring_all_up();
    ASSERT_TRUE(bed_.run_until([&] { return bed_.unanswered() == 0; })) << "a write is never answered\n"
                                                                        << bed_.describe();
    for (uint64_t region : live()) {
      ASSERT_TRUE(bed_.run_until([&] { return bed_.owns("n1", region) || bed_.owns("n2", region); }))
          << "region " << region << " is never opened\n"
          << bed_.describe();
    }
    bed_.expect_nothing_lost();
    ASSERT_TRUE(bed_.run_until([&] { return missing().empty(); }))
        << "change " << missing() << " reaches no view manager\n"
        << bed_.describe();
    expect_replicas_agree();
    for (const std::string& text : bed_.said)
      EXPECT_EQ(text.find("can not be used"), std::string::npos) << text;
  }

  // The same log gives the same state, at the owner and at the standby. An owner learns by its next append
  // only that a late one has ended its incarnation: all have come, then it appends.
  void expect_replicas_agree() {
    bed_.scheduler.run_until(Micros{bed_.scheduler.now().value + 2 * MemoryLogFaults().late_delay_max.value});
    for (int key = 0; key < 80; ++key) bed_.write("key" + std::to_string(key), std::to_string(number_++));
    ASSERT_TRUE(bed_.run_until([&] { return bed_.unanswered() == 0; })) << bed_.describe();
    for (uint64_t region : live()) {
      ASSERT_TRUE(bed_.run_until([&] { return replicas_agree(RegionId{region}); }))
          << "region " << region << "\n"
          << bed_.describe();
    }
  }
  bool replicas_agree(RegionId region) {
    RegionReplica* first = bed_.node("n1").region(region);
    RegionReplica* second = bed_.node("n2").region(region);
    if (first == nullptr || second == nullptr) return false;
    if (first->state().reader() != second->state().reader()) return false;
    EXPECT_EQ(first->state().hash(), second->state().hash()) << "region " << region;
    return true;
  }

  NodeBed bed_;
  uint64_t number_ = 0;
  bool second_ = false;
};

TEST(StorageNodeSim, NothingAcknowledgedIsLostWhateverHappens) {
  const char* only = std::getenv("TIDEMARK_SEED");
  const char* count = std::getenv("TIDEMARK_SEEDS");
  uint64_t first = only ? std::stoull(only) : 0;
  uint64_t last = only ? first : (count ? std::stoull(count) : 120) - 1;
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("again: TIDEMARK_SEED=" + std::to_string(seed));
    World world(seed);
    world.run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tidemark
