// Internal to jsonb: a cursor over normalised text. Total: on other bytes it stops early.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/text_scan.h"

namespace tidemark::sql::jsonb_detail {

class Scan {
 public:
  Scan(std::string_view text, size_t at) : text_(text), at_(at) {}

  bool at_end() const { return at_ >= text_.size(); }
  size_t position() const { return at_; }

  bool skip(std::string_view token) {
    if (text_.substr(at_ < text_.size() ? at_ : text_.size(), token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  // The value that starts here, and past it; empty where none does.
  std::string_view take_value() {
    if (at_end()) return {};
    const size_t start = at_;
    const char c = text_[at_];
    if (c == '"') {
      skip_string();
    } else if (c == '{' || c == '[') {
      skip_container();
    } else {
      while (!at_end() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '}') ++at_;
    }
    return text_.substr(start, at_ - start);
  }

 private:
  void skip_string() {
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return;
      }
    }
    at_ = text_.size();
  }

  void skip_container() {
    int depth = 0;
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  std::string_view text_;
  size_t at_;
};

// The inside of a normalised string without its escapes. `out` has room for inner.size() bytes; returns how
// many were written.
inline size_t unescape(std::string_view inner, char* out) {
  size_t size = 0;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\' || i + 1 == inner.size()) {
      out[size++] = inner[i];
      continue;
    }
    const char c = inner[++i];
    switch (c) {
      case 'b': out[size++] = '\b'; break;
      case 'f': out[size++] = '\f'; break;
      case 'n': out[size++] = '\n'; break;
      case 'r': out[size++] = '\r'; break;
      case 't': out[size++] = '\t'; break;
      case 'u': {  // Only control characters are written so: \u00XX.
        int code = 0;
        for (int digit = 0; digit < 4 && i + 1 < inner.size(); ++digit) {
          const char hex = to_lower(inner[++i]);
          code = code * 16 + (is_digit(hex) ? hex - '0' : hex - 'a' + 10);
        }
        out[size++] = static_cast<char>(code & 0x7f);
        break;
      }
      default: out[size++] = c;
    }
  }
  return size;
}

}  // namespace tidemark::sql::jsonb_detail
