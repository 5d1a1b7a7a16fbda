#include "net/notice_limiter.h"

#include <utility>

namespace tidemark {

NoticeLimiter::NoticeLimiter(Scheduler& scheduler, Micros interval, Say say)
    : scheduler_(scheduler), interval_(interval), say_(std::move(say)) {}

void NoticeLimiter::tell(const std::string& what) {
  if (!say_) return;
  if (is_quiet_) {
    ++untold_;
    last_ = what;
    return;
  }
  say_(what);
  is_quiet_ = true;
  scheduler_.post_after(interval_, [this] { tell_untold(); });
}

void NoticeLimiter::tell_untold() {
  is_quiet_ = false;
  if (const uint64_t count = std::exchange(untold_, 0); count > 0)
    tell(last_ + "; the last of " + std::to_string(count));
}

}  // namespace tidemark
