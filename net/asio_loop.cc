#include "net/asio_loop.h"

#include <pthread.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <future>
#include <thread>

#include "base/assert.h"

namespace tidemark {

class AsioLoop::Impl {
 public:
  explicit Impl(const std::string& name) : work_(context.get_executor()), thread_([this] { context.run(); }) {
    pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
  }

  void stop() {
    work_.reset();
    context.stop();
    if (thread_.joinable()) thread_.join();
  }

  bool on_loop() const { return std::this_thread::get_id() == thread_.get_id(); }

  asio::io_context context{1};

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

AsioLoop::AsioLoop(std::string name) : impl_(std::make_unique<Impl>(name)) {}
AsioLoop::~AsioLoop() {
  stop();
}

void AsioLoop::post(std::function<void()> task) {
  asio::post(impl_->context, std::move(task));
}

void AsioLoop::post_after(Micros delay, std::function<void()> task) {
  auto timer = std::make_shared<asio::steady_timer>(impl_->context, std::chrono::microseconds(delay.value));
  timer->async_wait([timer, task = std::move(task)](const asio::error_code& error) {
    if (!error) task();
  });
}

Micros AsioLoop::now() const {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Micros{std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

void AsioLoop::run(std::function<void()> task) {
  TM_ASSERT(!on_loop());
  std::promise<void> done;
  post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

void AsioLoop::stop() {
  impl_->stop();
}
bool AsioLoop::on_loop() const {
  return impl_->on_loop();
}
asio::io_context& AsioLoop::context() {
  return impl_->context;
}

}  // namespace tidemark
