// Buggify points: places in a core where a rare but legal path is taken on purpose, so that a simulation
// meets it often. A peer may be busy, a read may end early, a report may come late: whoever relies on the
// usual path breaks. Off but in a simulation; then a point costs the load of a number of the thread's own and
// a branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/probe.h"
#include "base/random.h"

namespace tidemark {

// While it lives, the points of its thread deviate: a quarter of them are on, and one that is on deviates at
// each visit with `chance`. The seed and the point's name decide. Each point has a stream of random numbers
// of its own: other points, and other streams, are as they would be without it. REQUIRES: no other one lives
// in the thread.
class Buggify {
 public:
  using Listener = std::function<void(const std::string& point)>;
  Buggify(uint64_t seed, double chance, Listener on_deviation = {});
  ~Buggify();
  Buggify(const Buggify&) = delete;
  Buggify& operator=(const Buggify&) = delete;

  // How often each point has deviated. All that are in the program are there, also those at zero.
  std::map<std::string, uint64_t> counts() const;

  bool deviates(size_t number);

 private:
  struct Point {
    Random random;
    bool on = false;
    uint64_t count = 0;
  };
  const double chance_;
  const Listener on_deviation_;
  std::vector<Point> points_;
};

namespace detail {

extern constinit thread_local Buggify* buggify;  // Of the thread; nullptr: off.

size_t register_buggify_point(const char* name);  // Before main(). Gives the same number for the same name.

template <ProbeName kName>
struct BuggifySite {
  static inline const size_t number = register_buggify_point(kName.text);
};

}  // namespace detail
}  // namespace tidemark

// if (is_full || TM_BUGGIFY("region: busy without need")) ...
#define TM_BUGGIFY(name)                     \
  (::tidemark::detail::buggify != nullptr && \
   ::tidemark::detail::buggify->deviates(::tidemark::detail::BuggifySite<name>::number))
