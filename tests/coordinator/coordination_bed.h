// What the contract suite needs of a Coordination and of the loop that it lives on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/scheduler.h"
#include "coordinator/coordination.h"

namespace tidemark {

class CoordinationBed {
 public:
  virtual ~CoordinationBed() = default;

  virtual Scheduler& scheduler() = 0;
  // A session of its own. Lives until closed, or as long as the bed.
  virtual Coordination& open() = 0;
  virtual void close(Coordination& session) = 0;
  // The server forgets the session; it hears of it in its own time.
  virtual void expire(Coordination& session) = 0;
  // Runs on the loop.
  virtual void run(std::function<void()> task) = 0;
  // Until it holds, asked on the loop. False: it never did.
  virtual bool wait(std::function<bool()> holds) = 0;

  // Calls and waits for the answer.
  template <typename T, typename Call>
  Result<T, CoordinationError> ask(Call call) {
    auto answer = std::make_shared<std::optional<Result<T, CoordinationError>>>();
    run([&] { call([answer](Result<T, CoordinationError> result) { *answer = std::move(result); }); });
    if (!wait([answer] { return answer->has_value(); })) return CoordinationError::Disconnected;
    return std::move(**answer);
  }
  Result<Entry, CoordinationError> get(Coordination& c, const std::string& path,
                                       Coordination::Watch watch = {}) {
    return ask<Entry>([&](auto done) { c.get(path, watch, done); });
  }
  Result<std::vector<std::string>, CoordinationError> children(Coordination& c, const std::string& path,
                                                               Coordination::Watch watch = {}) {
    return ask<std::vector<std::string>>([&](auto done) { c.children(path, watch, done); });
  }
  Result<bool, CoordinationError> exists(Coordination& c, const std::string& path,
                                         Coordination::Watch watch = {}) {
    return ask<bool>([&](auto done) { c.exists(path, watch, done); });
  }
  Result<std::string, CoordinationError> create(Coordination& c, const std::string& path,
                                                const std::string& data,
                                                EntryMode mode = EntryMode::Persistent) {
    return ask<std::string>([&](auto done) { c.create(path, data, mode, done); });
  }
  Result<std::vector<std::string>, CoordinationError> multi(Coordination& c,
                                                            std::vector<CoordinationOp> ops) {
    return ask<std::vector<std::string>>([&](auto done) { c.multi(std::move(ops), done); });
  }
};

inline CoordinationOp check_op(const std::string& path, std::optional<int32_t> version = {}) {
  return {CoordinationOp::Kind::Check, path, {}, version, EntryMode::Persistent};
}
inline CoordinationOp set_op(const std::string& path, const std::string& data,
                             std::optional<int32_t> version = {}) {
  return {CoordinationOp::Kind::Set, path, data, version, EntryMode::Persistent};
}
inline CoordinationOp create_op(const std::string& path, const std::string& data,
                                EntryMode mode = EntryMode::Persistent) {
  return {CoordinationOp::Kind::Create, path, data, {}, mode};
}
inline CoordinationOp remove_op(const std::string& path, std::optional<int32_t> version = {}) {
  return {CoordinationOp::Kind::Remove, path, {}, version, EntryMode::Persistent};
}

}  // namespace tidemark
