#include "sql/types/key_encoding.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>

#include "sql/types/compare.h"
#include "sql/types/datetime.h"
#include "sql/types/jsonb.h"
#include "sql/types/key_reader.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

using key_detail::kCorruptKey;
using key_detail::KeyReader;

constexpr uint8_t kValueMark = 0x01;
constexpr uint8_t kNullMark = 0x02;
constexpr uint64_t kSignBit = uint64_t{1} << 63;

void append_number(uint64_t value, int size, std::string& out) {
  char bytes[8];
  for (int i = 0; i < size; ++i) bytes[i] = static_cast<char>(value >> (8 * (size - 1 - i)));
  out.append(bytes, size);
}

// With the sign bit turned over, two's complement compares as unsigned.
void append_signed(int64_t value, int size, std::string& out) {
  append_number(static_cast<uint64_t>(value) ^ (uint64_t{1} << (8 * size - 1)), size, out);
}

uint64_t double_to_ordered(double value) {
  if (std::isnan(value)) return ~uint64_t{0};
  if (value == 0) value = 0;  // -0 is 0.
  const auto bits = std::bit_cast<uint64_t>(value);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

double double_from_ordered(uint64_t ordered) {
  if (ordered == ~uint64_t{0}) return std::nan("");
  return std::bit_cast<double>((ordered & kSignBit) != 0 ? ordered & ~kSignBit : ~ordered);
}

int integer_size(TypeKind kind) {
  switch (kind) {
    case TypeKind::SmallInt: return 2;
    case TypeKind::Integer:
    case TypeKind::Date: return 4;
    default: return 8;
  }
}

int64_t from_signed(uint64_t raw, int size) {
  const int shift = 64 - 8 * size;
  return static_cast<int64_t>((raw ^ (uint64_t{1} << (8 * size - 1))) << shift) >> shift;
}

void append_value(const Value& value, std::string& out) {
  switch (value.kind()) {
    case TypeKind::Boolean: out.push_back(value.as_bool() ? 1 : 0); return;
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt:
    case TypeKind::Date:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: append_signed(value.as_int(), integer_size(value.kind()), out); return;
    case TypeKind::Numeric: append_numeric_key(value.as_numeric(), out); return;
    case TypeKind::Double: append_number(double_to_ordered(value.as_double()), 8, out); return;
    case TypeKind::Text:
    case TypeKind::Bytea: append_escaped_bytes(value.as_bytes(), out); return;
    case TypeKind::Uuid: {
      const Uuid uuid = value.as_uuid();
      out.append(reinterpret_cast<const char*>(uuid.data()), uuid.size());
      return;
    }
    case TypeKind::Jsonb: jsonb_append_key(value.as_bytes(), out); return;
    case TypeKind::Interval: {  // Of ad-hoc groups and orders only: '24:00' and '1 day' are equal, so no way
                                // back.
      const auto span = static_cast<uint128_t>(interval_span(value.as_interval()));
      append_number(static_cast<uint64_t>(span >> 64) ^ kSignBit, 8, out);
      append_number(static_cast<uint64_t>(span), 8, out);
      return;
    }
    case TypeKind::Null:
    case TypeKind::Unknown: break;
  }
  TM_UNREACHABLE();
}

Fault read_uuid(KeyReader& in, Value& out) {
  Uuid uuid;
  for (uint8_t& byte : uuid) {
    if (!in.take_byte(byte)) return kCorruptKey;
  }
  out = Value::uuid(uuid);
  return kOk;
}

Fault read_jsonb(KeyReader& in, std::string_view key, Arena& arena, Value& out) {
  std::string plain;
  std::string_view source = key;
  if (in.mask() != 0) {
    plain.assign(key);
    for (char& c : plain) c = static_cast<char>(~c);
    source = plain;
  }
  size_t at = in.position();
  std::string text;
  TM_SQL_TRY(jsonb_from_key(source, at, text));
  out = Value::jsonb(arena.copy(text));
  in = KeyReader(key, at, in.mask());
  return kOk;
}

Fault read_value(TypeKind kind, KeyReader& in, std::string_view key, Arena& arena, Value& out) {
  switch (kind) {
    case TypeKind::Boolean: {
      uint8_t byte = 0;
      if (!in.take_byte(byte) || byte > 1) return kCorruptKey;
      out = Value::boolean(byte == 1);
      return kOk;
    }
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt:
    case TypeKind::Date:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: {
      uint64_t raw = 0;
      const int size = integer_size(kind);
      if (!in.take_number(size, raw)) return kCorruptKey;
      const int64_t value = from_signed(raw, size);
      if (!is_valid_datetime(kind, value)) return kCorruptKey;
      out = Value::of_int(kind, value);
      return kOk;
    }
    case TypeKind::Double: {
      uint64_t raw = 0;
      if (!in.take_number(8, raw)) return kCorruptKey;
      out = Value::float8(double_from_ordered(raw));
      return kOk;
    }
    case TypeKind::Numeric: {
      Numeric number;
      TM_SQL_TRY(key_detail::read_numeric(in, arena, number));
      out = Value::numeric(number);
      return kOk;
    }
    case TypeKind::Text:
    case TypeKind::Bytea: {
      std::string_view bytes;
      if (!in.take_escaped(arena, bytes)) return kCorruptKey;
      if (kind == TypeKind::Text && !is_valid_text(bytes)) return kCorruptKey;
      out = Value::of_bytes(kind, bytes);
      return kOk;
    }
    case TypeKind::Uuid: return read_uuid(in, out);
    case TypeKind::Jsonb: return read_jsonb(in, key, arena, out);
    case TypeKind::Interval:
    case TypeKind::Null:
    case TypeKind::Unknown: break;
  }
  return kCorruptKey;
}

// Zeros that the key has not kept.
Fault show_decimals(int scale, Arena& arena, Value& value) {
  const Numeric& number = value.as_numeric();
  if (!number.is_finite() || number.scale() >= scale) return kOk;
  Numeric shown;
  TM_SQL_TRY(numeric_round(number, scale, Rounding::HalfAwayFromZero, arena, shown));
  value = Value::numeric(shown);
  return kOk;
}

}  // namespace

void append_escaped_bytes(std::string_view bytes, std::string& out) {
  for (size_t start = 0;;) {
    const size_t zero = bytes.find('\0', start);
    if (zero == std::string_view::npos) {
      out.append(bytes.substr(start));
      break;
    }
    out.append(bytes.substr(start, zero + 1 - start));
    out.push_back('\xff');
    start = zero + 1;
  }
  out.append(2, '\0');
}

void append_key(const Value& value, SortOrder order, std::string& out) {
  const size_t start = out.size();
  if (value.is_null()) {
    out.push_back(static_cast<char>(kNullMark));
  } else {
    out.push_back(static_cast<char>(kValueMark));
    append_value(value, out);
  }
  if (order == SortOrder::Ascending) return;
  for (size_t i = start; i < out.size(); ++i) out[i] = static_cast<char>(~out[i]);
}

void append_keys(std::span<const KeyColumn> columns, std::span<const Value> values, std::string& out) {
  TM_ASSERT(columns.size() == values.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    TM_ASSERT(values[i].is_null() || values[i].kind() == columns[i].kind);
    append_key(values[i], columns[i].order, out);
  }
}

Fault read_key(const KeyColumn& column, std::string_view key, size_t& at, Arena& arena, Value& out) {
  KeyReader in(key, at, column.order == SortOrder::Ascending ? 0 : 0xff);
  uint8_t mark = 0;
  if (!in.take_byte(mark)) return kCorruptKey;
  if (mark == kNullMark) {
    out = Value::null();
  } else if (mark == kValueMark) {
    TM_SQL_TRY(read_value(column.kind, in, key, arena, out));
    if (column.scale > 0) TM_SQL_TRY(show_decimals(column.scale, arena, out));
  } else {
    return kCorruptKey;
  }
  at = in.position();
  return kOk;
}

Fault skip_key(const KeyColumn& column, std::string_view key, size_t& at) {
  Arena arena;
  Value ignored;
  return read_key({column.kind, column.order}, key, at, arena, ignored);
}

uint64_t distribution_hash(std::string_view encoded_distribution_columns) {
  return XXH3_64bits(encoded_distribution_columns.data(), encoded_distribution_columns.size());
}

}  // namespace tidemark::sql
