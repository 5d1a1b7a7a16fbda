// Tells people of something that others can make happen as often as they like: the first time at once, then
// at most one line per interval, with how many it stands for. Lives on one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/guarded_scheduler.h"

namespace tidemark {

class NoticeLimiter {
 public:
  using Say = std::function<void(const std::string&)>;

  // REQUIRES: `scheduler` outlives it. `say` may be empty: nothing is told.
  NoticeLimiter(Scheduler& scheduler, Micros interval, Say say);

  void tell(const std::string& what);

 private:
  void tell_untold();

  GuardedScheduler scheduler_;
  const Micros interval_;
  const Say say_;
  bool is_quiet_ = false;  // Until the interval since the last line is over.
  uint64_t untold_ = 0;
  std::string last_;
};

}  // namespace tidemark
