#include <algorithm>

#include "verify/functions.h"

namespace tidemark::verify {

namespace {

using Runes = std::vector<std::string>;  // Characters, each with its bytes.

Runes runes_of(const std::string& text) {
  Runes out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string joined(const Runes& runes, int64_t from, int64_t to) {
  std::string out;
  from = std::max<int64_t>(from, 0);
  to = std::min<int64_t>(to, static_cast<int64_t>(runes.size()));
  for (int64_t i = from; i < to; ++i) out += runes[static_cast<size_t>(i)];
  return out;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}
std::string mapped(std::string text, char (*map)(char)) {
  std::transform(text.begin(), text.end(), text.begin(), map);
  return text;
}

std::string initcap(std::string text) {
  bool inside = false;
  for (char& c : text) {
    c = inside ? lower(c) : upper(c);
    inside = (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
  }
  return text;
}

enum class Side : uint8_t { Left, Right, Both };

std::string trim(const std::string& text, const std::string& characters, Side side) {
  const Runes runes = runes_of(text), unwanted = runes_of(characters);
  auto is_unwanted = [&](const std::string& c) {
    return std::find(unwanted.begin(), unwanted.end(), c) != unwanted.end();
  };
  size_t from = 0, to = runes.size();
  while (side != Side::Right && from < to && is_unwanted(runes[from])) ++from;
  while (side != Side::Left && from < to && is_unwanted(runes[to - 1])) --to;
  return joined(runes, static_cast<int64_t>(from), static_cast<int64_t>(to));
}

std::string pad(const std::string& text, int64_t length, const std::string& fill, Side side) {
  const Runes runes = runes_of(text), filling = runes_of(fill);
  length = std::max<int64_t>(length, 0);
  const int64_t size = static_cast<int64_t>(runes.size());
  if (size >= length || filling.empty()) return joined(runes, 0, length);
  std::string padding;
  for (int64_t i = 0; i < length - size; ++i) padding += filling[static_cast<size_t>(i) % filling.size()];
  return side == Side::Left ? padding + text : text + padding;
}

int64_t position(const std::string& text, const std::string& part) {
  const size_t at = text.find(part);
  if (at == std::string::npos) return 0;
  return static_cast<int64_t>(runes_of(text.substr(0, at)).size()) + 1;
}

std::string replace(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Result<Value> split_part(const std::string& text, const std::string& separator, int64_t number) {
  if (number == 0) return Error{"field position must not be zero"};
  std::vector<std::string> parts;
  size_t at = 0;
  for (size_t next = 0; !separator.empty() && (next = text.find(separator, at)) != std::string::npos;
       at = next + separator.size()) {
    parts.push_back(text.substr(at, next - at));
  }
  parts.push_back(text.substr(at));
  const int64_t count = static_cast<int64_t>(parts.size());
  const int64_t index = number > 0 ? number - 1 : count + number;
  return Value(index >= 0 && index < count ? parts[static_cast<size_t>(index)] : std::string());
}

std::string translate(const std::string& text, const std::string& from, const std::string& to) {
  const Runes old = runes_of(from), fresh = runes_of(to);
  std::string out;
  for (const std::string& c : runes_of(text)) {
    const auto found = std::find(old.begin(), old.end(), c);
    const size_t index = static_cast<size_t>(found - old.begin());
    if (found == old.end()) {
      out += c;
    } else if (index < fresh.size()) {
      out += fresh[index];
    }
  }
  return out;
}

Result<Value> substring(const std::string& text, int64_t start, int64_t count) {
  if (count < 0) return Error{"negative substring length not allowed"};
  const Int128 end = static_cast<Int128>(start) + count - 1;
  const int64_t to = end > INT32_MAX ? INT32_MAX : static_cast<int64_t>(end);
  return Value(joined(runes_of(text), start - 1, to));
}

std::string utf8(int64_t code) {
  auto byte = [](int64_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
  if (code < 0x10000) {
    return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
  }
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)), byte(0x80 | (code >> 6 & 0x3f)),
          byte(0x80 | (code & 0x3f))};
}

int64_t code_of(const std::string& text) {
  if (text.empty()) return 0;
  const std::string first = runes_of(text)[0];
  const auto head = static_cast<unsigned char>(first[0]);
  if (first.size() == 1) return head;
  int64_t code = head & (0x7f >> first.size());
  for (size_t i = 1; i < first.size(); ++i) code = code << 6 | (static_cast<unsigned char>(first[i]) & 0x3f);
  return code;
}

// Patterns of LIKE; a backslash takes the next character as it is.
class Like {
 public:
  Like(const Runes& text, const Runes& pattern) : text_(text), pattern_(pattern) {}

  Result<Value> matches() {
    if (!pattern_.empty() && ends_in_escape())
      return Error{"LIKE pattern must not end with escape character"};
    return Value(int64_t{match()});
  }

 private:
  bool ends_in_escape() const {
    size_t count = 0;
    while (count < pattern_.size() && pattern_[pattern_.size() - 1 - count] == "\\") ++count;
    return count % 2 == 1;
  }
  bool match() const {
    size_t at = 0, in = 0, star = std::string::npos, resume = 0;
    while (at < text_.size()) {
      if (in < pattern_.size() && pattern_[in] == "%") {
        star = in++;
        resume = at;
        continue;
      }
      const bool escaped = in < pattern_.size() && pattern_[in] == "\\";
      const size_t literal = escaped ? in + 1 : in;
      const bool any = !escaped && in < pattern_.size() && pattern_[in] == "_";
      if (literal < pattern_.size() && (any || pattern_[literal] == text_[at])) {
        in = literal + 1;
        ++at;
      } else if (star != std::string::npos) {
        in = star + 1;
        at = ++resume;
      } else {
        return false;
      }
    }
    while (in < pattern_.size() && pattern_[in] == "%") ++in;
    return in == pattern_.size();
  }

  const Runes& text_;
  const Runes& pattern_;
};

// The same pattern with a backslash for its escape character.
std::string like_escape(const std::string& pattern, const std::string& escape) {
  std::string out;
  bool taken = false;
  for (const std::string& c : runes_of(pattern)) {
    if (!taken && !escape.empty() && c == escape) {
      out += "\\";
      taken = true;
    } else {
      if (c == "\\" && !taken) out += "\\";
      out += c;
      taken = false;
    }
  }
  return out;
}

}  // namespace

void register_text_functions(Database& database) {
  auto add = [&](const char* name, int arguments, Result<Value> (*function)(Values)) {
    database.add_function(name, arguments, Nulls::Strict, function);
  };
  using R = Result<Value>;
  add("t_lower", 1, [](Values v) -> R { return Value(mapped(as_text(v[0]), lower)); });
  add("t_upper", 1, [](Values v) -> R { return Value(mapped(as_text(v[0]), upper)); });
  add("t_initcap", 1, [](Values v) -> R { return Value(initcap(as_text(v[0]))); });
  add("t_length", 1,
      [](Values v) -> R { return Value(static_cast<int64_t>(runes_of(as_text(v[0])).size())); });
  add("t_octets", 1, [](Values v) -> R { return Value(static_cast<int64_t>(as_text(v[0]).size())); });
  add("b_octets", 1,
      [](Values v) -> R { return Value(static_cast<int64_t>(std::get<Blob>(v[0]).bytes.size())); });
  add("b_concat", 2,
      [](Values v) -> R { return Value(Blob{std::get<Blob>(v[0]).bytes + std::get<Blob>(v[1]).bytes}); });
  add("t_ascii", 1, [](Values v) -> R { return Value(code_of(as_text(v[0]))); });
  add("t_chr", 1, [](Values v) -> R {
    if (as_int(v[0]) <= 0 || as_int(v[0]) > 0x10ffff) return Error{"requested character is not valid"};
    return Value(utf8(as_int(v[0])));
  });
  add("t_reverse", 1, [](Values v) -> R {
    Runes runes = runes_of(as_text(v[0]));
    std::reverse(runes.begin(), runes.end());
    return Value(joined(runes, 0, static_cast<int64_t>(runes.size())));
  });
  add("t_btrim", 2, [](Values v) -> R { return Value(trim(as_text(v[0]), as_text(v[1]), Side::Both)); });
  add("t_ltrim", 2, [](Values v) -> R { return Value(trim(as_text(v[0]), as_text(v[1]), Side::Left)); });
  add("t_rtrim", 2, [](Values v) -> R { return Value(trim(as_text(v[0]), as_text(v[1]), Side::Right)); });
  add("t_lpad", 3,
      [](Values v) -> R { return Value(pad(as_text(v[0]), as_int(v[1]), as_text(v[2]), Side::Left)); });
  add("t_rpad", 3,
      [](Values v) -> R { return Value(pad(as_text(v[0]), as_int(v[1]), as_text(v[2]), Side::Right)); });
  add("t_left", 2, [](Values v) -> R {
    const Runes runes = runes_of(as_text(v[0]));
    const int64_t n = as_int(v[1]);
    return Value(joined(runes, 0, n >= 0 ? n : static_cast<int64_t>(runes.size()) + n));
  });
  add("t_right", 2, [](Values v) -> R {
    const Runes runes = runes_of(as_text(v[0]));
    const int64_t n = as_int(v[1]), size = static_cast<int64_t>(runes.size());
    return Value(joined(runes, n >= 0 ? size - n : -n, size));
  });
  add("t_repeat", 2, [](Values v) -> R {
    std::string out;
    for (int64_t i = 0; i < as_int(v[1]) && out.size() < (16u << 20); ++i) out += as_text(v[0]);
    return Value(out);
  });
  add("t_replace", 3,
      [](Values v) -> R { return Value(replace(as_text(v[0]), as_text(v[1]), as_text(v[2]))); });
  add("t_translate", 3,
      [](Values v) -> R { return Value(translate(as_text(v[0]), as_text(v[1]), as_text(v[2]))); });
  add("t_split_part", 3, [](Values v) { return split_part(as_text(v[0]), as_text(v[1]), as_int(v[2])); });
  add("t_position", 2, [](Values v) -> R { return Value(position(as_text(v[0]), as_text(v[1]))); });
  add("t_starts_with", 2,
      [](Values v) -> R { return Value(int64_t{as_text(v[0]).starts_with(as_text(v[1]))}); });
  add("t_substring", 3, [](Values v) { return substring(as_text(v[0]), as_int(v[1]), as_int(v[2])); });
  add("t_like", 2, [](Values v) {
    const Runes text = runes_of(as_text(v[0])), pattern = runes_of(as_text(v[1]));
    return Like(text, pattern).matches();
  });
  add("t_like_escape", 2, [](Values v) -> R { return Value(like_escape(as_text(v[0]), as_text(v[1]))); });
  // varchar(n): an explicit cast cuts.
  add("t_cut", 2, [](Values v) -> R { return Value(joined(runes_of(as_text(v[0])), 0, as_int(v[1]))); });
}

}  // namespace tidemark::verify
