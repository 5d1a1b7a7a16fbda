#include "sql/types/array_text.h"

#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

// Reads one element up to its comma or the closing brace; false if it is malformed.
bool take_element(std::string_view& text, ArrayElement& out) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  std::string value;
  if (!text.empty() && text.front() == '"') {
    text.remove_prefix(1);
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\') text.remove_prefix(1);
      if (text.empty()) return false;
      value.push_back(text.front());
      text.remove_prefix(1);
    }
    if (text.empty()) return false;
    text.remove_prefix(1);
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    out = std::move(value);
    return true;
  }
  while (!text.empty() && text.front() != ',' && text.front() != '}') {
    if (text.front() == '{' || text.front() == '"') return false;
    if (text.front() == '\\') text.remove_prefix(1);
    if (text.empty()) return false;
    value.push_back(text.front());
    text.remove_prefix(1);
  }
  value = std::string(trim_spaces(value));
  if (value.empty()) return false;
  if (equals_ignoring_case(value, "null")) {
    out = std::nullopt;
  } else {
    out = std::move(value);
  }
  return true;
}

std::optional<std::vector<ArrayElement>> parse_vector(std::string_view text) {
  std::vector<ArrayElement> out;
  while (!text.empty()) {
    size_t size = 0;
    while (size < text.size() && is_digit(text[size])) ++size;
    if (size == 0 || (size < text.size() && text[size] != ' ')) return std::nullopt;
    out.emplace_back(std::string(text.substr(0, size)));
    text = trim_spaces(text.substr(size));
  }
  return out;
}

bool needs_quotes(std::string_view text) {
  if (text.empty() || equals_ignoring_case(text, "null")) return true;
  for (char c : text) {
    if (c == '{' || c == '}' || c == ',' || c == '"' || c == '\\' || is_space(c)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<ArrayElement>> parse_array(std::string_view text) {
  text = trim_spaces(text);
  if (text.empty() || is_digit(text.front())) return parse_vector(text);
  if (text.size() < 2 || text.front() != '{') return std::nullopt;
  text.remove_prefix(1);
  std::vector<ArrayElement> out;
  if (trim_spaces(text) == "}") return out;
  for (;;) {
    ArrayElement element;
    if (!take_element(text, element) || text.empty()) return std::nullopt;
    out.push_back(std::move(element));
    const char next = text.front();
    text.remove_prefix(1);
    if (next == '}') break;
    if (next != ',') return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return out;
}

void append_array_element(const ArrayElement& element, std::string& out) {
  if (out.size() > 1) out.push_back(',');
  if (!element) {
    out += "NULL";
    return;
  }
  if (!needs_quotes(*element)) {
    out += *element;
    return;
  }
  out.push_back('"');
  for (char c : *element) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  out.push_back('"');
}

std::string format_array(const std::vector<ArrayElement>& elements) {
  std::string out = "{";
  for (const ArrayElement& element : elements) append_array_element(element, out);
  return out + "}";
}

}  // namespace tidemark::sql
