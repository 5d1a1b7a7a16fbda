// A thread that takes all that was queued since it last looked, at once: a group commit.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark {

template <typename Item>
class BatchThread {
 public:
  // The name shows in `top -H` and gdb; at most 15 characters.
  BatchThread(const char* name, std::function<void(std::vector<Item>)> take)
      : take_(std::move(take)), thread_([this] { run(); }) {
    pthread_setname_np(thread_.native_handle(), name);
  }
  // What was queued is done first.
  ~BatchThread() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  BatchThread(const BatchThread&) = delete;
  BatchThread& operator=(const BatchThread&) = delete;

  // From any thread.
  void push(Item item) {
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      was_empty = items_.empty();
      items_.push_back(std::move(item));
    }
    if (was_empty) changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !items_.empty(); });
      if (items_.empty()) return;
      std::vector<Item> batch = std::exchange(items_, {});
      lock.unlock();
      take_(std::move(batch));
      lock.lock();
    }
  }

  const std::function<void(std::vector<Item>)> take_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidemark
