// Items in order, against a set.
#include "node/store/ordered_items.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "base/random.h"

namespace tidemark {
namespace {

struct Item {
  std::string text;
  std::string_view key() const { return text; }
};
struct ByKey {
  using is_transparent = void;
  bool operator()(const Item* a, const Item* b) const { return a->text < b->text; }
  bool operator()(const Item* a, const std::string& b) const { return a->text < b; }
  bool operator()(const std::string& a, const Item* b) const { return a < b->text; }
};

// Keys that are short, that share long beginnings, and that are spread.
std::string random_key(Random& random, uint64_t kind) {
  if (kind == 0) return std::string(random.below(6), static_cast<char>('a' + random.below(3)));
  if (kind == 1) return "the same beginning" + std::to_string(random.below(500));
  std::string out;
  for (int i = 0; i < 12; ++i) out.push_back(static_cast<char>(random.below(256)));
  return out;
}

class Twins {
 public:
  explicit Twins(uint64_t seed) : random_(seed), kind_(seed % 3) {}

  void step() {
    const std::string key = random_key(random_, kind_);
    auto found = set_.find(key);
    if (found != set_.end()) {
      items_.erase(*found);
      set_.erase(found);
    } else if (random_.chance(shrinking_ ? 0.2 : 0.9)) {
      kept_.push_back(std::make_unique<Item>(Item{key}));
      items_.insert(kept_.back().get());
      set_.insert(kept_.back().get());
    }
    if (!set_.empty() && shrinking_) {
      Item* first = *set_.begin();
      items_.erase(first);
      set_.erase(first);
    }
    if (random_.chance(0.001)) shrinking_ = !shrinking_;
  }

  void compare_around(const std::string& key) {
    auto after = items_.at_or_after(key);
    auto wanted = set_.lower_bound(key);
    for (int i = 0; i < 5 && wanted != set_.end(); ++i, ++wanted, after.next()) {
      ASSERT_TRUE(after.valid());
      ASSERT_EQ(after.item(), *wanted);
    }
    ASSERT_TRUE(wanted != set_.end() || !after.valid());
    auto before = items_.at_or_before(key);
    auto passed = set_.upper_bound(key);
    for (int i = 0; i < 5 && passed != set_.begin(); ++i, before.previous()) {
      ASSERT_TRUE(before.valid());
      ASSERT_EQ(before.item(), *--passed);
    }
    ASSERT_TRUE(passed != set_.begin() || !before.valid());
  }

  void compare_somewhere() { compare_around(random_key(random_, kind_)); }

  void compare_all() {
    auto at = items_.at_or_after({});
    for (const Item* item : set_) {
      ASSERT_TRUE(at.valid());
      ASSERT_EQ(at.item(), item);
      at.next();
    }
    ASSERT_FALSE(at.valid());
    ASSERT_EQ(items_.empty(), set_.empty());
  }

 private:
  Random random_;
  const uint64_t kind_;
  bool shrinking_ = false;
  OrderedItems<Item> items_;
  std::set<Item*, ByKey> set_;
  std::vector<std::unique_ptr<Item>> kept_;
};

TEST(OrderedItemsProperty, AgreesWithASet) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Twins twins(seed);
    for (int i = 0; i < 5'000; ++i) {
      twins.step();
      if (i % 7 == 0) twins.compare_somewhere();
      if (testing::Test::HasFatalFailure()) return;
    }
    twins.compare_all();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tidemark
