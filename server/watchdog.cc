#include "server/watchdog.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/process/units.h"

namespace tidemark {

namespace {

constexpr int kLooks = 10;  // Within the patience: time is counted in looks, so that a pause counts as one.

}  // namespace

class Watchdog::Impl {
 public:
  Impl(std::vector<Watched> loops, Micros patience, std::function<void(const std::string&)> on_hang)
      : patience_(patience), on_hang_(std::move(on_hang)) {
    for (Watched& watched : loops) beats_.push_back({std::move(watched), std::make_shared<Beat>(), 0});
    thread_ = std::thread([this] { watch(); });
  }

  ~Impl() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  struct Beat {
    std::atomic<bool> answered{true};
  };
  struct Watching {
    Watched watched;
    std::shared_ptr<Beat> beat;  // Shared with the task on the loop.
    int missed = 0;
  };

  void watch() {
    std::unique_lock lock(mutex_);
    const std::chrono::microseconds interval(patience_.value / kLooks);
    while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
      for (Watching& one : beats_) look(one);
    }
  }

  void look(Watching& one) {
    if (one.beat->answered.exchange(false)) {
      one.missed = 0;
      one.watched.loop->post([beat = one.beat] { beat->answered = true; });
      return;
    }
    if (++one.missed < kLooks) return;
    on_hang_("the loop of " + one.watched.name + " has hung for " + show_duration(patience_));
  }

  const Micros patience_;
  const std::function<void(const std::string&)> on_hang_;
  std::vector<Watching> beats_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

Watchdog::Watchdog(std::vector<Watched> loops, Micros patience,
                   std::function<void(const std::string&)> on_hang)
    : impl_(std::make_unique<Impl>(std::move(loops), patience, std::move(on_hang))) {}
Watchdog::~Watchdog() = default;

}  // namespace tidemark
