// Errors as values, hashring's own: the library includes nothing of the project, so that others can take it
// as it is. A refusal leaves nothing behind; every function here is pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace tidemark::hashring {

enum class Refusal : uint8_t {
  NoMembers,
  WeightZero,
  DuplicateMember,
  MoreMembersThanUnits,
  TooManyReplicas,     // More replicas wanted than members own a part of the ring.
  WeightsUnsupported,  // The strategy can not express different weights.
  RemovalUnsupported,  // The strategy can only remove its last member.
  LoadUnusable,        // Load is missing, or does not cover the ring once.
  RingsDiffer,         // Two rings of different size, or hashed differently, were to be combined.
  OutOfRange,          // A parameter is outside what the strategy can compute.
};

struct Error {
  Refusal code;
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok(). Otherwise std::bad_variant_access ends the process.
  const T& value() const& { return std::get<0>(state_); }
  // By value from a temporary: `for (x : *compute())` must not outlive what it walks over.
  T value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;
inline Status accepted() {
  return std::monostate{};
}

}  // namespace tidemark::hashring
