// A SQL value: a tag and 16 bytes. Scalars are inline; text, bytea, jsonb and large numerics are views into
// memory owned elsewhere (an arena, a row, a literal), which must outlive the value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "sql/types/arena.h"
#include "sql/types/numeric.h"
#include "sql/types/sql_type.h"

namespace tidemark::sql {

using Uuid = std::array<uint8_t, 16>;

// As PostgreSQL keeps it: the three parts do not convert into each other.
struct Interval {
  int64_t micros = 0;
  int32_t days = 0;
  int32_t months = 0;
};

class Value {
 public:
  constexpr Value() = default;  // NULL.

  static Value null() { return {}; }
  static Value boolean(bool value) { return of_int(TypeKind::Boolean, value ? 1 : 0); }
  static Value smallint(int16_t value) { return of_int(TypeKind::SmallInt, value); }
  static Value integer(int32_t value) { return of_int(TypeKind::Integer, value); }
  static Value bigint(int64_t value) { return of_int(TypeKind::BigInt, value); }
  static Value date(int32_t days) { return of_int(TypeKind::Date, days); }
  static Value timestamp(int64_t micros) { return of_int(TypeKind::Timestamp, micros); }
  static Value timestamptz(int64_t micros) { return of_int(TypeKind::TimestampTz, micros); }
  // REQUIRES: `kind` is boolean, an integer, a date or a timestamp.
  static Value of_int(TypeKind kind, int64_t value) {
    Value out(kind);
    out.low_ = static_cast<uint64_t>(value);
    return out;
  }
  static Value float8(double value) {
    Value out(TypeKind::Double);
    out.low_ = std::bit_cast<uint64_t>(value);
    return out;
  }
  static Value text(std::string_view bytes) { return of_bytes(TypeKind::Text, bytes); }
  static Value bytea(std::string_view bytes) { return of_bytes(TypeKind::Bytea, bytes); }
  // REQUIRES: normalised, see jsonb.h.
  static Value jsonb(std::string_view bytes) { return of_bytes(TypeKind::Jsonb, bytes); }
  // REQUIRES: `kind` is text, bytea, jsonb or unknown.
  static Value of_bytes(TypeKind kind, std::string_view bytes) {
    Value out(kind);
    out.low_ = reinterpret_cast<uintptr_t>(bytes.data());
    out.high_ = bytes.size();
    return out;
  }
  static Value numeric(const Numeric& number) {
    Value out(TypeKind::Numeric);
    out.low_ = number.low_;
    out.high_ = number.high_;
    out.scale_ = number.scale_;
    out.form_ = number.form_;
    return out;
  }
  static Value uuid(const Uuid& bytes) {
    Value out(TypeKind::Uuid);
    std::memcpy(&out.low_, bytes.data(), 8);
    std::memcpy(&out.high_, bytes.data() + 8, 8);
    return out;
  }
  static Value interval(const Interval& value) {
    Value out(TypeKind::Interval);
    out.low_ = static_cast<uint64_t>(value.micros);
    out.high_ = (static_cast<uint64_t>(static_cast<uint32_t>(value.months)) << 32) |
                static_cast<uint32_t>(value.days);
    return out;
  }

  TypeKind kind() const { return kind_; }
  bool is_null() const { return kind_ == TypeKind::Null; }

  // REQUIRES for all: the value is of that kind.
  bool as_bool() const { return low_ != 0; }
  int64_t as_int() const { return static_cast<int64_t>(low_); }
  double as_double() const { return std::bit_cast<double>(low_); }
  std::string_view as_bytes() const {
    return {reinterpret_cast<const char*>(static_cast<uintptr_t>(low_)), static_cast<size_t>(high_)};
  }
  Numeric as_numeric() const {
    Numeric out;
    out.low_ = low_;
    out.high_ = high_;
    out.scale_ = scale_;
    out.form_ = form_;
    return out;
  }
  Uuid as_uuid() const {
    Uuid out;
    std::memcpy(out.data(), &low_, 8);
    std::memcpy(out.data() + 8, &high_, 8);
    return out;
  }
  Interval as_interval() const {
    return {static_cast<int64_t>(low_), static_cast<int32_t>(high_), static_cast<int32_t>(high_ >> 32)};
  }

  // Whether the value points to memory outside itself.
  bool is_view() const {
    switch (kind_) {
      case TypeKind::Text:
      case TypeKind::Bytea:
      case TypeKind::Jsonb:
      case TypeKind::Unknown: return true;
      case TypeKind::Numeric: return as_numeric().is_big();
      default: return false;
    }
  }

  // The same value with what it points to copied into `arena`.
  Value copy_into(Arena& arena) const {
    if (!is_view()) return *this;
    Value out = *this;
    out.low_ = reinterpret_cast<uintptr_t>(arena.copy(as_bytes()).data());
    return out;
  }

 private:
  explicit constexpr Value(TypeKind kind) : kind_(kind) {}

  uint64_t low_ = 0;
  uint64_t high_ = 0;
  uint16_t scale_ = 0;
  Numeric::Form form_ = Numeric::Form::Small;
  TypeKind kind_ = TypeKind::Null;
};

static_assert(sizeof(Value) == 24);

// A value that owns what it points to: for literals, statistics and tests, not for the hot path.
class OwnedValue {
 public:
  OwnedValue() = default;
  explicit OwnedValue(const Value& value) { assign(value); }
  OwnedValue(const OwnedValue& other) { assign(other.value_); }
  OwnedValue(OwnedValue&& other) noexcept { take(other); }
  OwnedValue& operator=(const OwnedValue& other) {
    if (this != &other) assign(other.value_);
    return *this;
  }
  OwnedValue& operator=(OwnedValue&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  const Value& get() const { return value_; }
  // Beside the value itself.
  size_t memory_bytes() const { return memory_.used_bytes(); }

 private:
  void assign(const Value& value) {
    Arena memory;
    value_ = value.copy_into(memory);
    memory_ = std::move(memory);
  }
  void take(OwnedValue& other) {
    value_ = other.value_;
    memory_ = std::move(other.memory_);
    other.value_ = Value();
  }

  Value value_;
  Arena memory_;
};

}  // namespace tidemark::sql
