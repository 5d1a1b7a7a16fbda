// Random histories with every fault, on the real core. TIDEMARK_SEEDS="first-last" runs others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/view_manager/world.h"

namespace tidemark {
namespace {

std::pair<uint64_t, uint64_t> seeds() {
  std::pair<uint64_t, uint64_t> out{0, 200};
  if (const char* given = std::getenv("TIDEMARK_SEEDS")) {
    char* end = nullptr;
    out.first = out.second = std::strtoull(given, &end, 10);
    if (*end == '-') out.second = std::strtoull(end + 1, nullptr, 10);
  }
  return out;
}

TEST(ViewManagerWorld, EveryHistoryIsAppliedOnceInOrderAndConverges) {  // PTO1, PTO2, PTO3, PTO5
  Probes probes;
  auto [first, last] = seeds();
  int violations = 0;
  for (uint64_t seed = first; seed <= last && violations < 5; ++seed) {
    std::string failure = World(seed, probes).run();
    if (failure.empty()) continue;
    ++violations;
    ADD_FAILURE() << failure << "; replay with TIDEMARK_SEEDS=" << seed;
  }
  for (const auto& [name, count] : probes) std::cout << name << ": " << count << "\n";
  if (last - first < 200) return;
  for (const char* rare : {"split",
                           "merge",
                           "merge into parts",
                           "parts united",
                           "zombie",
                           "crash",
                           "batch: accept",
                           "batch: drop",
                           "batch: refuse",
                           "busy",
                           "catalog behind",
                           "waits for catalog",
                           "waits for ring",
                           "parked",
                           "unparked",
                           "let go",
                           "reopened",
                           "timeout",
                           "lanes stopped",
                           "seal crossed",
                           "already applied",
                           "combined",
                           "ends inside a record",
                           "stale refusal"}) {
    EXPECT_GT(probes[rare], 0u) << rare << " was never reached: untested";
  }
}

TEST(ViewManagerWorld, TheSameSeedEndsTheSame) {
  for (uint64_t seed = 1000; seed < 1010; ++seed) {
    Probes probes;
    World first(seed, probes), second(seed, probes);
    EXPECT_EQ(first.run(), "");
    EXPECT_EQ(second.run(), "");
    EXPECT_EQ(first.fingerprint(), second.fingerprint());
  }
}

}  // namespace
}  // namespace tidemark
