// Errors as values. Result<T> holds a T or an Error; Result<void> (Status) an Error or nothing.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace tidemark {

// What went wrong, for people. Where callers act differently on different failures, use a Result with an
// enum of its own instead (as `Refusal` in STYLE).
struct Error {
  std::string message;
};

template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    TM_ASSERT(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    TM_ASSERT(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    TM_ASSERT(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const E& error() const {
    TM_ASSERT(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, E> state_;
};

template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const E& error() const {
    TM_ASSERT(!ok_);
    return error_;
  }

 private:
  E error_{};
  bool ok_ = true;
};

using Status = Result<void>;

// Returns the error of `expression` from the enclosing function, if it has one.
#define TM_TRY(expression)                                        \
  do {                                                            \
    if (auto tm_try_status = (expression); !tm_try_status.ok()) { \
      return tm_try_status.error();                               \
    }                                                             \
  } while (false)

}  // namespace tidemark
