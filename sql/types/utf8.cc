#include "sql/types/utf8.h"

#include "sql/types/fault.h"

namespace tidemark::sql {
namespace {

bool is_continuation(char c) {
  return (static_cast<uint8_t>(c) & 0xc0) == 0x80;
}

// Overlong forms, surrogates and code points beyond U+10FFFF show in the first two bytes.
bool is_valid_start(uint8_t first, uint8_t second) {
  switch (first) {
    case 0xe0: return second >= 0xa0;
    case 0xed: return second <= 0x9f;
    case 0xf0: return second >= 0x90;
    case 0xf4: return second <= 0x8f;
    default: return first >= 0xc2 && first <= 0xf4;
  }
}

}  // namespace

int utf8_length(char lead) {
  const auto byte = static_cast<uint8_t>(lead);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

bool is_valid_text(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const auto first = static_cast<uint8_t>(bytes[at]);
    if (first == 0) return false;
    if (first < 0x80) {
      ++at;
      continue;
    }
    const auto length = static_cast<size_t>(utf8_length(bytes[at]));
    if (length == 1 || at + length > bytes.size()) return false;
    if (!is_valid_start(first, static_cast<uint8_t>(bytes[at + 1]))) return false;
    for (size_t i = 1; i < length; ++i) {
      if (!is_continuation(bytes[at + i])) return false;
    }
    at += length;
  }
  return true;
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (char c : text) count += is_continuation(c) ? 0 : 1;
  return count;
}

size_t offset_of_character(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_continuation(text[at])) continue;
    if (index == 0) return at;
    --index;
  }
  return at;
}

void append_utf8(uint32_t code_point, std::string& out) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3f));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

int character_position(std::string_view statement, int byte_position) {
  if (byte_position <= 0) return 0;
  const auto before = static_cast<size_t>(byte_position - 1);
  return static_cast<int>(count_characters(statement.substr(0, std::min(before, statement.size())))) + 1;
}

}  // namespace tidemark::sql
