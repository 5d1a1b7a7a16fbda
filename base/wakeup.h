// The one timer of an object on its loop: asked for many moments, it fires at the earliest. Timers can not be
// cancelled; those that a later request made superfluous fire into the void.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/scheduler.h"

namespace tidemark {

class Wakeup {
 public:
  // Fires no sooner than `least` after it was asked: what is due but can not be done yet must not keep the
  // loop busy. REQUIRES: the scheduler runs nothing once this is gone (base/guarded_scheduler.h).
  Wakeup(Scheduler& scheduler, Micros least, std::function<void()> fire)
      : scheduler_(scheduler), least_(least), fire_(std::move(fire)) {}

  // Fires at `when`, or earlier if that was asked for. Once: afterwards it is asked again.
  void by(Micros when) {
    const Micros now = scheduler_.now();
    when = std::max(when, Micros{now.value + least_.value});
    if (at_ && *at_ <= when) return;
    at_ = when;
    scheduler_.post_after(Micros{when.value - now.value}, [this, when] {
      if (at_ != when) return;
      at_.reset();
      fire_();
    });
  }

 private:
  Scheduler& scheduler_;
  const Micros least_;
  const std::function<void()> fire_;
  std::optional<Micros> at_;
};

}  // namespace tidemark
