#include "base/log.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {
namespace {

bool is_plain(char c) {
  return c > ' ' && c != 0x7f && c != '"' && c != '=' && c != '\\';
}

void append_quoted(std::string& text, std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  text += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      text += "\\x";
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    } else {
      text += c;
    }
  }
  text += '"';
}

}  // namespace

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return "debug";
    case LogLevel::Info: return "info";
    case LogLevel::Warning: return "warning";
    case LogLevel::Error: return "error";
  }
  TM_UNREACHABLE();
}

void detail::append_field(std::string& text, std::string_view key, std::string_view value) {
  text += ' ';
  text += key;
  text += '=';
  // Bytes above 127 are parts of UTF-8 and stay as they are.
  const bool one_word = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return is_plain(c) || static_cast<unsigned char>(c) > 0x7f;
  });
  if (one_word) {
    text += value;
  } else {
    append_quoted(text, value);
  }
}

}  // namespace tidemark
