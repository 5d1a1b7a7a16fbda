#include "sql/types/text_format.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "sql/types/datetime.h"
#include "sql/types/jsonb.h"
#include "sql/types/text_scan.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

constexpr Fault kBadEncoding{sqlstate::kCharacterNotInRepertoire,
                             "invalid byte sequence for encoding \"UTF8\""};

int hex_digit(char c) {
  c = to_lower(c);
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Fault bytea_from_hex(std::string_view text, Arena& arena, Value& out) {
  constexpr Fault kBadHex{sqlstate::kInvalidParameterValue, "invalid hexadecimal data"};
  char* bytes = arena.allocate(text.size() / 2 + 1);
  size_t size = 0;
  for (size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    const int high = hex_digit(text[i]);
    if (high < 0) return kBadHex;
    if (i + 1 == text.size()) return {sqlstate::kInvalidParameterValue, "odd number of hexadecimal digits"};
    const int low = hex_digit(text[i + 1]);
    if (low < 0) return kBadHex;
    bytes[size++] = static_cast<char>(high * 16 + low);
    i += 2;
  }
  out = Value::bytea({bytes, size});
  return kOk;
}

bool is_octal(char c, char highest) {
  return c >= '0' && c <= highest;
}

// PostgreSQL's older format: bytes as they are, \\ and \ooo.
Fault bytea_from_escapes(std::string_view text, Arena& arena, Value& out) {
  char* bytes = arena.allocate(text.size());
  size_t size = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes[size++] = text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      bytes[size++] = '\\';
      ++i;
    } else if (i + 3 < text.size() && is_octal(text[i + 1], '3') && is_octal(text[i + 2], '7') &&
               is_octal(text[i + 3], '7')) {
      bytes[size++] =
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      return kInvalidText;
    }
  }
  out = Value::bytea({bytes, size});
  return kOk;
}

// 32 hexadecimal digits, a hyphen allowed after each four, braces around allowed.
Fault uuid_from_text(std::string_view text, Value& out) {
  if (text.size() >= 2 && text.front() == '{') {
    if (text.back() != '}') return kInvalidText;
    text = text.substr(1, text.size() - 2);
  }
  Uuid uuid;
  size_t at = 0;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (at + 1 >= text.size()) return kInvalidText;
    const int high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return kInvalidText;
    uuid[i] = static_cast<uint8_t>(high * 16 + low);
    at += 2;
    if (i % 2 == 1 && i + 1 < uuid.size() && at < text.size() && text[at] == '-') ++at;
  }
  if (at != text.size()) return kInvalidText;
  out = Value::uuid(uuid);
  return kOk;
}

void append_uuid(const Uuid& uuid, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out.push_back('-');
    out.push_back(kDigits[uuid[i] >> 4]);
    out.push_back(kDigits[uuid[i] & 15]);
  }
}

Fault read_kind(TypeKind kind, std::string_view text, Arena& arena, Value& out) {
  switch (kind) {
    case TypeKind::Boolean: {
      bool value = false;
      TM_SQL_TRY(bool_from_text(text, value));
      out = Value::boolean(value);
      return kOk;
    }
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt: {
      int64_t value = 0;
      TM_SQL_TRY(integer_from_text(kind, text, value));
      out = Value::of_int(kind, value);
      return kOk;
    }
    case TypeKind::Numeric: {
      Numeric number;
      TM_SQL_TRY(numeric_from_text(text, arena, number));
      out = Value::numeric(number);
      return kOk;
    }
    case TypeKind::Double: {
      double value = 0;
      TM_SQL_TRY(double_from_text(text, value));
      out = Value::float8(value);
      return kOk;
    }
    case TypeKind::Text:
    case TypeKind::Unknown:
      if (!is_valid_text(text)) return kBadEncoding;
      out = Value::of_bytes(kind, arena.copy(text));
      return kOk;
    case TypeKind::Bytea:
      return text.starts_with("\\x") ? bytea_from_hex(text.substr(2), arena, out)
                                     : bytea_from_escapes(text, arena, out);
    case TypeKind::Date: {
      int32_t days = 0;
      TM_SQL_TRY(date_from_text(text, days));
      out = Value::date(days);
      return kOk;
    }
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: {
      int64_t micros = 0;
      TM_SQL_TRY(
          timestamp_from_text(text, kind == TypeKind::Timestamp ? ZoneUse::Ignore : ZoneUse::Apply, micros));
      out = Value::of_int(kind, micros);
      return kOk;
    }
    case TypeKind::Uuid: return uuid_from_text(text, out);
    case TypeKind::Jsonb: {
      if (!is_valid_text(text)) return kBadEncoding;
      std::string json;
      TM_SQL_TRY(jsonb_from_text(text, json));
      out = Value::jsonb(arena.copy(json));
      return kOk;
    }
    case TypeKind::Interval: {
      Interval interval;
      TM_SQL_TRY(interval_from_text(text, interval));
      out = Value::interval(interval);
      return kOk;
    }
    case TypeKind::Null: break;
  }
  TM_UNREACHABLE();
}

Fault limit_text(size_t characters_max, CastContext context, Value& value) {
  const std::string_view text = value.as_bytes();
  if (text.size() <= characters_max) return kOk;
  const size_t end = offset_of_character(text, characters_max);
  if (end == text.size()) return kOk;
  if (context != CastContext::Explicit && text.find_first_not_of(' ', end) != std::string_view::npos) {
    return {sqlstate::kStringDataRightTruncation, "value too long for type character varying(n)"};
  }
  value = Value::text(text.substr(0, end));
  return kOk;
}

std::pair<int64_t, int64_t> range_of(TypeKind kind) {
  switch (kind) {
    case TypeKind::SmallInt: return {INT16_MIN, INT16_MAX};
    case TypeKind::Integer: return {INT32_MIN, INT32_MAX};
    default: return {INT64_MIN, INT64_MAX};
  }
}

}  // namespace

Fault bool_from_text(std::string_view text, bool& out) {
  text = trim_spaces(text);
  // Unambiguous beginnings of the words are enough.
  const auto begins = [text](std::string_view word, size_t least) {
    return text.size() >= least && text.size() <= word.size() &&
           equals_ignoring_case(text, word.substr(0, text.size()));
  };
  if (begins("true", 1) || begins("yes", 1) || begins("on", 2) || text == "1") {
    out = true;
  } else if (begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0") {
    out = false;
  } else {
    return kInvalidText;
  }
  return kOk;
}

Fault integer_from_text(TypeKind kind, std::string_view text, int64_t& out) {
  text = trim_spaces(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return kInvalidText;
  // Negative numbers reach one further. Too many digits are found before anything wrong that follows them.
  const auto [lowest, highest] = range_of(kind);
  out = 0;
  size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (__builtin_mul_overflow(out, int64_t{10}, &out) ||
        __builtin_sub_overflow(out, int64_t{text[at] - '0'}, &out) || out < lowest ||
        (!negative && out < -highest)) {
      return {sqlstate::kNumericValueOutOfRange, nullptr};
    }
  }
  if (at != text.size()) return kInvalidText;
  if (!negative) out = -out;
  return kOk;
}

Fault double_from_text(std::string_view text, double& out) {
  text = trim_spaces(text);
  std::string_view magnitude = text;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) magnitude.remove_prefix(1);
  if (text.empty() || magnitude.empty()) return kInvalidText;
  if (equals_ignoring_case(magnitude, "infinity") || equals_ignoring_case(magnitude, "inf")) {
    out = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    return kOk;
  }
  if (equals_ignoring_case(magnitude, "nan")) {
    out = std::numeric_limits<double>::quiet_NaN();
    return kOk;
  }
  if (!is_digit(magnitude[0]) && magnitude[0] != '.') return kInvalidText;
  const auto [end, error] = std::from_chars(magnitude.data(), magnitude.data() + magnitude.size(), out);
  if (end != magnitude.data() + magnitude.size() || error == std::errc::invalid_argument) return kInvalidText;
  if (error == std::errc::result_out_of_range) return {sqlstate::kNumericValueOutOfRange, nullptr};
  if (text[0] == '-') out = -out;
  return kOk;
}

namespace {

// Whether the digits that to_chars() chose lie exactly between two doubles. They read back right, since ties
// go to the even one, but PostgreSQL does not count on that and prints more digits. Only integers beyond 2^53
// can be so.
bool is_halfway(double magnitude, std::string_view scientific) {
  if (magnitude < 9007199254740992.0 || magnitude >= 1e23) return false;
  int128_t digits = 0;
  int after_point = 0;
  bool seen_point = false;
  size_t at = scientific.starts_with('-') ? 1 : 0;
  for (; at < scientific.size() && scientific[at] != 'e'; ++at) {
    if (scientific[at] == '.') {
      seen_point = true;
      continue;
    }
    digits = digits * 10 + (scientific[at] - '0');
    after_point += seen_point ? 1 : 0;
  }
  int exponent = 0;
  std::from_chars(scientific.data() + at + 2, scientific.data() + scientific.size(), exponent);
  for (int i = after_point; i < exponent; ++i) digits *= 10;
  const auto exact = static_cast<int128_t>(magnitude);
  const double neighbour = std::nextafter(magnitude, digits > exact ? HUGE_VAL : 0);
  const int128_t gap = static_cast<int128_t>(neighbour) - exact;
  return digits != exact && (digits - exact) * 2 == gap;
}

}  // namespace

// Shortest digits that read back as the same number; with an exponent below 1e-4 and from 1e15 on.
void append_double(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e15);
  char buffer[64];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value,
                              plain ? std::chars_format::fixed : std::chars_format::scientific);
  if (!plain && is_halfway(magnitude, {buffer, static_cast<size_t>(result.ptr - buffer)})) {
    result = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific, 16);
  }
  out.append(buffer, result.ptr);
}

void append_hex(std::string_view bytes, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (char c : bytes) {
    out.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    out.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
}

Fault apply_modifier(const SqlType& type, CastContext context, Arena& arena, Value& value) {
  if (!type.has_modifier() || value.is_null()) return kOk;
  switch (type.kind) {
    case TypeKind::Text: return limit_text(static_cast<size_t>(type.modifier), context, value);
    case TypeKind::Numeric: {
      Numeric number;
      TM_SQL_TRY(
          numeric_fit(value.as_numeric(), type.numeric_precision(), type.numeric_scale(), arena, number));
      value = Value::numeric(number);
      return kOk;
    }
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
      value = Value::of_int(type.kind, timestamp_round(value.as_int(), type.modifier));
      return kOk;
    default: return kOk;
  }
}

Fault value_from_text(const SqlType& type, std::string_view text, Arena& arena, Value& out) {
  TM_SQL_TRY(read_kind(type.kind, text, arena, out));
  return apply_modifier(type, CastContext::Assignment, arena, out);
}

SqlError input_error(Fault fault, const SqlType& type, std::string_view text, int position) {
  if (fault.message() != nullptr) return to_error(fault, position);
  const std::string quoted = "\"" + std::string(text) + "\"";
  const std::string name = type.kind == TypeKind::Jsonb ? "json" : std::string(type_name(type.kind));
  std::string message;
  if (fault.state() == sqlstate::kNumericValueOutOfRange) {
    message = type.kind == TypeKind::Double ? quoted + " is out of range for type " + name
                                            : "value " + quoted + " is out of range for type " + name;
  } else if (fault.state() == sqlstate::kDatetimeFieldOverflow) {
    message = "date/time field value out of range: " + quoted;
  } else {
    message = "invalid input syntax for type " + name + ": " + quoted;
  }
  return {fault.state(), message, position, {}, {}};
}

Result<Value, SqlError> parse_value(const SqlType& type, std::string_view text, Arena& arena, int position) {
  Value out;
  if (const Fault fault = value_from_text(type, text, arena, out); !fault.ok()) {
    return input_error(fault, type, text, position);
  }
  return out;
}

void append_text(const Value& value, std::string& out) {
  switch (value.kind()) {
    case TypeKind::Boolean: out.push_back(value.as_bool() ? 't' : 'f'); return;
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt: {
      char buffer[24];
      out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value.as_int()).ptr);
      return;
    }
    case TypeKind::Numeric: numeric_append_text(value.as_numeric(), out); return;
    case TypeKind::Double: append_double(value.as_double(), out); return;
    case TypeKind::Text:
    case TypeKind::Unknown:
    case TypeKind::Jsonb: out += value.as_bytes(); return;
    case TypeKind::Bytea:
      out += "\\x";
      append_hex(value.as_bytes(), out);
      return;
    case TypeKind::Date: date_append_text(static_cast<int32_t>(value.as_int()), out); return;
    case TypeKind::Timestamp: timestamp_append_text(value.as_int(), out); return;
    case TypeKind::TimestampTz: timestamptz_append_text(value.as_int(), out); return;
    case TypeKind::Uuid: append_uuid(value.as_uuid(), out); return;
    case TypeKind::Interval: interval_append_text(value.as_interval(), out); return;
    case TypeKind::Null: break;
  }
  TM_UNREACHABLE();
}

std::string to_text(const Value& value) {
  std::string out;
  append_text(value, out);
  return out;
}

}  // namespace tidemark::sql
