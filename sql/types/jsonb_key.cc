// The order of jsonb values: null < string < number < boolean < array < object, fewer elements first; and, as
// PostgreSQL has it by an old mistake, an empty array at the top before all else.

#include "sql/types/jsonb.h"
#include "sql/types/jsonb_scan.h"
#include "sql/types/key_encoding.h"
#include "sql/types/key_reader.h"

namespace tidemark::sql {
namespace {

using jsonb_detail::Scan;
using key_detail::kCorruptKey;
using key_detail::KeyReader;

enum JsonRank : uint8_t {
  kTopEmptyArray = 1,
  kNull = 2,
  kString = 3,
  kNumber = 4,
  kBoolean = 5,
  kArray = 6,
  kObject = 7,
};
constexpr int kCountBytes = 4;

void append_count(uint32_t count, std::string& out) {
  for (int i = kCountBytes - 1; i >= 0; --i) out.push_back(static_cast<char>(count >> (8 * i)));
}

void append_string(std::string_view json, std::string& out) {
  Arena arena;
  append_escaped_bytes(jsonb_as_text(json, arena), out);
}

void append_json(std::string_view json, int depth, std::string& out);

void append_container(std::string_view json, JsonRank rank, int depth, std::string& out) {
  out.push_back(static_cast<char>(rank));
  const size_t count_at = out.size();
  append_count(0, out);
  uint32_t count = 0;
  Scan scan(json, 1);
  for (;;) {
    std::string_view item = scan.take_value();
    if (item.empty()) break;
    if (rank == kObject) {
      append_string(item, out);
      if (!scan.skip(": ")) break;
      item = scan.take_value();
    }
    append_json(item, depth + 1, out);
    ++count;
    if (!scan.skip(", ")) break;
  }
  for (int i = 0; i < kCountBytes; ++i)
    out[count_at + i] = static_cast<char>(count >> (8 * (kCountBytes - 1 - i)));
}

void append_json(std::string_view json, int depth, std::string& out) {
  switch (depth > kJsonDepthMax ? JsonKind::Malformed : jsonb_kind(json)) {
    case JsonKind::Null: out.push_back(kNull); return;
    case JsonKind::Boolean:
      out.push_back(kBoolean);
      out.push_back(json == "true" ? 1 : 0);
      return;
    case JsonKind::Number: {
      Arena arena;
      Numeric number;
      if (!numeric_from_text(json, arena, number).ok()) break;
      out.push_back(kNumber);
      append_numeric_key(number, out);
      return;
    }
    case JsonKind::String:
      out.push_back(kString);
      append_string(json, out);
      return;
    case JsonKind::Array: append_container(json, kArray, depth, out); return;
    case JsonKind::Object: append_container(json, kObject, depth, out); return;
    case JsonKind::Malformed: break;
  }
  out.push_back(kString);
  append_escaped_bytes(json, out);
}

Fault read_json(KeyReader& in, int depth, std::string& out);

Fault read_string(KeyReader& in, std::string& out) {
  Arena arena;
  std::string_view text;
  if (!in.take_escaped(arena, text)) return kCorruptKey;
  append_json_string(text, out);
  return kOk;
}

Fault read_container(KeyReader& in, bool is_object, int depth, std::string& out) {
  uint64_t count = 0;
  if (!in.take_number(kCountBytes, count) || count > in.left()) return kCorruptKey;
  out.push_back(is_object ? '{' : '[');
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    if (is_object) {
      TM_SQL_TRY(read_string(in, out));
      out += ": ";
    }
    TM_SQL_TRY(read_json(in, depth + 1, out));
  }
  out.push_back(is_object ? '}' : ']');
  return kOk;
}

Fault read_json(KeyReader& in, int depth, std::string& out) {
  uint8_t rank = 0, byte = 0;
  if (depth > kJsonDepthMax || !in.take_byte(rank)) return kCorruptKey;
  switch (rank) {
    case kTopEmptyArray:
      if (depth > 0) return kCorruptKey;
      out += "[]";
      return kOk;
    case kNull: out += "null"; return kOk;
    case kBoolean:
      if (!in.take_byte(byte) || byte > 1) return kCorruptKey;
      out += byte == 1 ? "true" : "false";
      return kOk;
    case kNumber: {
      Arena arena;
      Numeric number;
      TM_SQL_TRY(key_detail::read_numeric(in, arena, number));
      if (!number.is_finite()) return kCorruptKey;
      numeric_append_text(number, out);
      return kOk;
    }
    case kString: return read_string(in, out);
    case kArray: return read_container(in, false, depth, out);
    case kObject: return read_container(in, true, depth, out);
    default: return kCorruptKey;
  }
}

}  // namespace

void jsonb_append_key(std::string_view json, std::string& out) {
  if (json == "[]") {
    out.push_back(kTopEmptyArray);
  } else {
    append_json(json, 0, out);
  }
}

Fault jsonb_from_key(std::string_view key, size_t& at, std::string& out) {
  KeyReader in(key, at, 0);
  TM_SQL_TRY(read_json(in, 0, out));
  at = in.position();
  return kOk;
}

int jsonb_compare(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  std::string key_a, key_b;
  jsonb_append_key(a, key_a);
  jsonb_append_key(b, key_b);
  const int order = key_a.compare(key_b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace tidemark::sql
