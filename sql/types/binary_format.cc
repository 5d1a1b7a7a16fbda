#include "sql/types/binary_format.h"

#include "sql/types/datetime.h"
#include "sql/types/jsonb.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

constexpr char kJsonbVersion = 1;

void append_number(uint64_t value, int size, std::string& out) {
  for (int i = size - 1; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i)));
}

bool read_number(std::string_view bytes, size_t size, uint64_t& out) {
  if (bytes.size() != size) return false;
  out = 0;
  for (char c : bytes) out = (out << 8) | static_cast<uint8_t>(c);
  return true;
}

Fault read_integer(TypeKind kind, std::string_view bytes, Value& out) {
  uint64_t raw = 0;
  const int size = type_length(kind);
  if (!read_number(bytes, static_cast<size_t>(size), raw)) return kInvalidBinary;
  const int shift = 64 - 8 * size;
  const int64_t value = static_cast<int64_t>(raw << shift) >> shift;
  if (!is_valid_datetime(kind, value)) return kTimestampOutOfRange;
  out = Value::of_int(kind, value);
  return kOk;
}

Fault read_interval(std::string_view bytes, Value& out) {
  uint64_t micros = 0, days = 0, months = 0;
  if (bytes.size() != 16) return kInvalidBinary;
  if (!read_number(bytes.substr(0, 8), 8, micros) || !read_number(bytes.substr(8, 4), 4, days) ||
      !read_number(bytes.substr(12), 4, months)) {
    return kInvalidBinary;
  }
  out = Value::interval(
      {static_cast<int64_t>(micros), static_cast<int32_t>(days), static_cast<int32_t>(months)});
  return kOk;
}

Fault read_jsonb(std::string_view bytes, Arena& arena, Value& out) {
  if (bytes.empty() || bytes[0] != kJsonbVersion || !is_valid_text(bytes.substr(1))) return kInvalidBinary;
  std::string json;
  TM_SQL_TRY(jsonb_from_text(bytes.substr(1), json));
  out = Value::jsonb(arena.copy(json));
  return kOk;
}

}  // namespace

void append_binary(const Value& value, std::string& out) {
  switch (value.kind()) {
    case TypeKind::Boolean:
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt:
    case TypeKind::Date:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
      append_number(static_cast<uint64_t>(value.as_int()), type_length(value.kind()), out);
      return;
    case TypeKind::Double: append_number(std::bit_cast<uint64_t>(value.as_double()), 8, out); return;
    case TypeKind::Numeric: numeric_append_binary(value.as_numeric(), out); return;
    case TypeKind::Text:
    case TypeKind::Unknown:
    case TypeKind::Bytea: out += value.as_bytes(); return;
    case TypeKind::Jsonb:
      out.push_back(kJsonbVersion);
      out += value.as_bytes();
      return;
    case TypeKind::Uuid: {
      const Uuid uuid = value.as_uuid();
      out.append(reinterpret_cast<const char*>(uuid.data()), uuid.size());
      return;
    }
    case TypeKind::Interval: {
      const Interval interval = value.as_interval();
      append_number(static_cast<uint64_t>(interval.micros), 8, out);
      append_number(static_cast<uint32_t>(interval.days), 4, out);
      append_number(static_cast<uint32_t>(interval.months), 4, out);
      return;
    }
    case TypeKind::Null: break;
  }
  TM_UNREACHABLE();
}

Fault value_from_binary(TypeKind kind, std::string_view bytes, Arena& arena, Value& out) {
  switch (kind) {
    case TypeKind::Boolean:
      if (bytes.size() != 1) return kInvalidBinary;
      out = Value::boolean(bytes[0] != 0);
      return kOk;
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt:
    case TypeKind::Date:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return read_integer(kind, bytes, out);
    case TypeKind::Double: {
      uint64_t raw = 0;
      if (!read_number(bytes, 8, raw)) return kInvalidBinary;
      out = Value::float8(std::bit_cast<double>(raw));
      return kOk;
    }
    case TypeKind::Numeric: {
      Numeric number;
      TM_SQL_TRY(numeric_from_binary(bytes, arena, number));
      out = Value::numeric(number);
      return kOk;
    }
    case TypeKind::Text:
    case TypeKind::Unknown:
      if (!is_valid_text(bytes)) {
        return {sqlstate::kCharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\""};
      }
      out = Value::of_bytes(kind, arena.copy(bytes));
      return kOk;
    case TypeKind::Bytea: out = Value::bytea(arena.copy(bytes)); return kOk;
    case TypeKind::Uuid: {
      Uuid uuid;
      if (bytes.size() != uuid.size()) return kInvalidBinary;
      std::memcpy(uuid.data(), bytes.data(), uuid.size());
      out = Value::uuid(uuid);
      return kOk;
    }
    case TypeKind::Jsonb: return read_jsonb(bytes, arena, out);
    case TypeKind::Interval: return read_interval(bytes, out);
    case TypeKind::Null: break;
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark::sql
