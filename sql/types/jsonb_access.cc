// Reading normalised jsonb text in place.

#include "sql/types/jsonb.h"
#include "sql/types/jsonb_scan.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {

using jsonb_detail::Scan;

JsonKind jsonb_kind(std::string_view json) {
  if (json.empty()) return JsonKind::Malformed;
  switch (json[0]) {
    case '{': return JsonKind::Object;
    case '[': return JsonKind::Array;
    case '"': return JsonKind::String;
    case 't':
    case 'f': return JsonKind::Boolean;
    case 'n': return JsonKind::Null;
    default: return is_digit(json[0]) || json[0] == '-' ? JsonKind::Number : JsonKind::Malformed;
  }
}

bool jsonb_field(std::string_view json, std::string_view key, std::string_view& out) {
  if (jsonb_kind(json) != JsonKind::Object) return false;
  std::string escaped;
  append_json_string(key, escaped);
  Scan scan(json, 1);
  while (!scan.at_end()) {
    const std::string_view name = scan.take_value();
    if (name.empty() || !scan.skip(": ")) return false;
    const std::string_view value = scan.take_value();
    if (name == escaped) {
      out = value;
      return !value.empty();
    }
    if (!scan.skip(", ")) return false;
  }
  return false;
}

int64_t jsonb_array_length(std::string_view json) {
  if (jsonb_kind(json) != JsonKind::Array) return -1;
  if (json == "[]") return 0;
  int64_t count = 0;
  Scan scan(json, 1);
  do {
    if (scan.take_value().empty()) break;
    ++count;
  } while (scan.skip(", "));
  return count;
}

bool jsonb_element(std::string_view json, int64_t index, std::string_view& out) {
  const JsonKind kind = jsonb_kind(json);
  if (kind == JsonKind::Object || kind == JsonKind::Malformed) return false;
  if (kind != JsonKind::Array) {
    out = json;
    return index == 0 || index == -1;
  }
  if (index < 0) {
    index += jsonb_array_length(json);
    if (index < 0) return false;
  }
  Scan scan(json, 1);
  for (;; --index) {
    const std::string_view value = scan.take_value();
    if (value.empty()) return false;
    if (index == 0) {
      out = value;
      return true;
    }
    if (!scan.skip(", ")) return false;
  }
}

namespace {

std::string_view inside(std::string_view json) {
  return json.substr(1, json.size() < 2 ? 0 : json.size() - 2);
}

// The elements of an array, or the value as the only element.
std::string_view as_elements(std::string_view json) {
  return jsonb_kind(json) == JsonKind::Array ? inside(json) : json;
}

void append_joined(std::string_view a, std::string_view b, std::string& out) {
  out += a;
  if (!a.empty() && !b.empty()) out += ", ";
  out += b;
}

}  // namespace

void jsonb_concatenate(std::string_view a, std::string_view b, std::string& out) {
  if (jsonb_kind(a) == JsonKind::Object && jsonb_kind(b) == JsonKind::Object) {
    std::string merged = "{";
    append_joined(inside(a), inside(b), merged);
    merged.push_back('}');
    if (jsonb_from_text(merged, out).ok()) return;
    out.clear();
  }
  out.push_back('[');
  append_joined(as_elements(a), as_elements(b), out);
  out.push_back(']');
}

std::string_view jsonb_as_text(std::string_view json, Arena& arena) {
  if (jsonb_kind(json) != JsonKind::String) return json;
  const std::string_view inner = inside(json);
  if (inner.find('\\') == std::string_view::npos) return inner;
  char* buffer = arena.allocate(inner.size());
  return {buffer, jsonb_detail::unescape(inner, buffer)};
}

}  // namespace tidemark::sql
