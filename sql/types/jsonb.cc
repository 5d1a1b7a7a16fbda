#include "sql/types/jsonb.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "sql/types/numeric.h"
#include "sql/types/text_scan.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

// Reads JSON as RFC 8259 has it and appends it normalised.
class Normalizer {
 public:
  explicit Normalizer(std::string_view text) : text_(text) {}

  Fault run(std::string& out) {
    TM_SQL_TRY(read_value(out, 0));
    skip_spaces();
    return at_ == text_.size() ? kOk : kInvalidText;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Fault read_value(std::string& out, int depth) {
    if (depth > kJsonDepthMax) return {sqlstate::kStatementTooComplex, "jsonb is nested too deeply"};
    skip_spaces();
    switch (peek()) {
      case '{': return read_object(out, depth);
      case '[': return read_array(out, depth);
      case '"': return read_string(out);
      case 't': return read_word("true", out);
      case 'f': return read_word("false", out);
      case 'n': return read_word("null", out);
      default: return read_number(out);
    }
  }

  Fault read_word(std::string_view word, std::string& out) {
    if (!take_word(word)) return kInvalidText;
    const char after = peek();
    if (is_digit(after) || (to_lower(after) >= 'a' && to_lower(after) <= 'z') || after == '_')
      return kInvalidText;
    out += word;
    return kOk;
  }

  Fault read_array(std::string& out, int depth) {
    ++at_;
    out.push_back('[');
    skip_spaces();
    if (!take(']')) {
      for (bool first = true;; first = false) {
        if (!first) out += ", ";
        TM_SQL_TRY(read_value(out, depth + 1));
        skip_spaces();
        if (take(']')) break;
        if (!take(',')) return kInvalidText;
      }
    }
    out.push_back(']');
    return kOk;
  }

  using Member = std::pair<std::string, std::string>;

  Fault read_object(std::string& out, int depth) {
    ++at_;
    std::vector<Member> members;
    skip_spaces();
    if (!take('}')) {
      for (;;) {
        skip_spaces();
        Member& member = members.emplace_back();
        TM_SQL_TRY(decode_string(member.first));
        skip_spaces();
        if (!take(':')) return kInvalidText;
        TM_SQL_TRY(read_value(member.second, depth + 1));
        skip_spaces();
        if (take('}')) break;
        if (!take(',')) return kInvalidText;
      }
    }
    write_object(members, out);
    return kOk;
  }

  static void write_object(std::vector<Member>& members, std::string& out) {
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
    });
    out.push_back('{');
    bool first = true;
    for (size_t i = 0; i < members.size(); ++i) {
      if (i + 1 < members.size() && members[i].first == members[i + 1].first) continue;
      if (!first) out += ", ";
      first = false;
      append_json_string(members[i].first, out);
      out += ": ";
      out += members[i].second;
    }
    out.push_back('}');
  }

  Fault read_string(std::string& out) {
    std::string decoded;
    TM_SQL_TRY(decode_string(decoded));
    append_json_string(decoded, out);
    return kOk;
  }

  Fault decode_string(std::string& out) {
    if (!take('"')) return kInvalidText;
    for (;;) {
      if (at_ >= text_.size()) return kInvalidText;
      const char c = text_[at_++];
      if (c == '"') return kOk;
      if (static_cast<uint8_t>(c) < 0x20) return kInvalidText;
      if (c != '\\') {
        out.push_back(c);
        continue;
      }
      TM_SQL_TRY(decode_escape(out));
    }
  }

  Fault decode_escape(std::string& out) {
    const char c = peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/': out.push_back(c); return kOk;
      case 'b': out.push_back('\b'); return kOk;
      case 'f': out.push_back('\f'); return kOk;
      case 'n': out.push_back('\n'); return kOk;
      case 'r': out.push_back('\r'); return kOk;
      case 't': out.push_back('\t'); return kOk;
      case 'u': return decode_unicode(out);
      default: return kInvalidText;
    }
  }

  bool take_hex(uint32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = to_lower(peek());
      if (!is_digit(c) && (c < 'a' || c > 'f')) return false;
      out = out * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
      ++at_;
    }
    return true;
  }

  Fault decode_unicode(std::string& out) {
    uint32_t code = 0;
    if (!take_hex(code)) return kInvalidText;
    if (code == 0) return {sqlstate::kUntranslatableCharacter, "\\u0000 cannot be converted to text"};
    if (code >= 0xdc00 && code <= 0xdfff) return kInvalidText;
    if (code >= 0xd800 && code <= 0xdbff) {
      uint32_t low = 0;
      if (!take('\\') || !take('u') || !take_hex(low) || low < 0xdc00 || low > 0xdfff) return kInvalidText;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(code, out);
    return kOk;
  }

  Fault read_number(std::string& out) {
    const size_t start = at_;
    take('-');
    if (!is_digit(peek())) return kInvalidText;
    if (!take('0')) skip_digits();
    if (take('.') && !skip_digits()) return kInvalidText;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!skip_digits()) return kInvalidText;
    }
    const char after = peek();
    if (is_digit(after) || (to_lower(after) >= 'a' && to_lower(after) <= 'z') || after == '_')
      return kInvalidText;
    Arena arena;
    Numeric number;
    TM_SQL_TRY(numeric_from_text(text_.substr(start, at_ - start), arena, number));
    numeric_append_text(number, out);
    return kOk;
  }

  bool skip_digits() {
    const size_t start = at_;
    while (is_digit(peek())) ++at_;
    return at_ > start;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Fault jsonb_from_text(std::string_view text, std::string& out) {
  return Normalizer(text).run(out);
}

void append_json_string(std::string_view text, std::string& out) {
  out.push_back('"');
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          char buffer[8];
          std::snprintf(buffer, sizeof(buffer), "\\u%04x", c);
          out += buffer;
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
}

}  // namespace tidemark::sql
