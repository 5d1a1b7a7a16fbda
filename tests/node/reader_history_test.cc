#include "node/reader_history.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tidemark {
namespace {

ReaderState state_at(uint64_t next, uint64_t incarnation) {
  ReaderState out;
  out.next = Offset{next};
  out.incarnation = Offset{incarnation};
  return out;
}

TEST(ReaderHistory, GivesAStateThatWasNotedAtOrBeforeThePlace) {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    ReaderHistory history;
    std::vector<ReaderState> noted;
    uint64_t next = 0;
    uint64_t incarnation = 0;
    uint64_t floor = 0;
    for (int i = 0; i < 5000; ++i) {
      next += 1 + random.below(3);  // Void records lie in between.
      if (random.chance(0.01)) incarnation = next;
      noted.push_back(state_at(next, incarnation));
      history.note(noted.back());
      if (random.chance(0.001)) history.forget_before(Offset{floor = random.below(next + 1)});
    }
    ASSERT_LE(history.states().size(), ReaderHistory::kStatesMax);
    for (int i = 0; i < 100; ++i) {
      Offset from{floor + random.below(next - floor + 1)};
      ReaderState found = history.at_or_before(from);
      EXPECT_LE(found.next, from);
      bool is_known = found == ReaderState{} || std::find(noted.begin(), noted.end(), found) != noted.end();
      EXPECT_TRUE(is_known);
    }
  }
}

TEST(ReaderHistory, IsNeverFarBehind) {
  ReaderHistory history;
  for (uint64_t next = 1; next <= 1000; ++next) history.note(state_at(next, 0));
  EXPECT_LT(500 - history.at_or_before(Offset{500}).next.value, 65u);
}

}  // namespace
}  // namespace tidemark
