#include <algorithm>

#include "sql/expr/function.h"
#include "sql/expr/text_limit.h"
#include "sql/types/text_format.h"
#include "sql/types/text_scan.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

std::string_view bytes(const Value& value) {
  return value.as_bytes();
}

Value made(Evaluation& evaluation) {
  return Value::text(evaluation.arena.copy(evaluation.scratch));
}

Fault length_in_characters(Evaluation&, const Value* args, int, Value& out) {
  out = Value::integer(static_cast<int32_t>(count_characters(bytes(args[0]))));
  return kOk;
}
Fault length_in_bytes(Evaluation&, const Value* args, int, Value& out) {
  out = Value::integer(static_cast<int32_t>(bytes(args[0]).size()));
  return kOk;
}

template <char (*F)(char)>
Fault map_bytes(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view text = bytes(args[0]);
  char* result = evaluation.arena.allocate(text.size());
  std::transform(text.begin(), text.end(), result, F);
  out = Value::text({result, text.size()});
  return kOk;
}
char lowered(char c) {
  return to_lower(c);
}
char raised(char c) {
  return to_upper(c);
}

Fault initcap(Evaluation& evaluation, const Value* args, int, Value& out) {
  evaluation.scratch = bytes(args[0]);
  bool inside = false;
  for (char& c : evaluation.scratch) {
    c = inside ? to_lower(c) : to_upper(c);
    inside = is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z');
  }
  out = made(evaluation);
  return kOk;
}

// Characters [start, start + length) counted from 1, clipped to the text.
std::string_view characters(std::string_view text, int64_t start, int64_t end) {
  start = std::max<int64_t>(start, 1);
  if (end <= start) return {};
  const size_t first = offset_of_character(text, static_cast<size_t>(start - 1));
  const std::string_view rest = text.substr(first);
  return rest.substr(0, offset_of_character(rest, static_cast<size_t>(end - start)));
}

Fault substring_from(Evaluation&, const Value* args, int, Value& out) {
  out = Value::text(characters(bytes(args[0]), args[1].as_int(), INT64_MAX));
  return kOk;
}
Fault substring_from_for(Evaluation&, const Value* args, int, Value& out) {
  if (args[2].as_int() < 0) return {sqlstate::kSubstringError, "negative substring length not allowed"};
  out = Value::text(characters(bytes(args[0]), args[1].as_int(), args[1].as_int() + args[2].as_int()));
  return kOk;
}
Fault left(Evaluation&, const Value* args, int, Value& out) {
  int64_t count = args[1].as_int();
  if (count < 0) count += static_cast<int64_t>(count_characters(bytes(args[0])));
  out = Value::text(characters(bytes(args[0]), 1, count + 1));
  return kOk;
}
Fault right(Evaluation&, const Value* args, int, Value& out) {
  const auto total = static_cast<int64_t>(count_characters(bytes(args[0])));
  const int64_t count = args[1].as_int() < 0 ? total + args[1].as_int() : args[1].as_int();
  out =
      Value::text(count <= 0 ? std::string_view() : characters(bytes(args[0]), total - count + 1, INT64_MAX));
  return kOk;
}

Fault position(Evaluation&, const Value* args, int, Value& out) {
  const size_t at = bytes(args[0]).find(bytes(args[1]));
  out = Value::integer(at == std::string_view::npos
                           ? 0
                           : static_cast<int32_t>(count_characters(bytes(args[0]).substr(0, at))) + 1);
  return kOk;
}

// Appends `count` characters of `fill`, repeated.
Fault append_fill(std::string_view fill, int64_t count, std::string& out) {
  for (size_t at = 0; count > 0; --count) {
    const auto size = static_cast<size_t>(utf8_length(fill[at]));
    out.append(fill.substr(at, size));
    at = at + size < fill.size() ? at + size : 0;
    if (is_too_long(out.size())) return kTooLong;
  }
  return kOk;
}

template <bool Left>
Fault pad(Evaluation& evaluation, const Value* args, int count, Value& out) {
  const std::string_view text = bytes(args[0]);
  const std::string_view fill = count > 2 ? bytes(args[2]) : std::string_view(" ");
  const int64_t wanted = std::max<int64_t>(args[1].as_int(), 0);
  if (wanted > kTextBytesMax) return kTooLong;
  const auto have = static_cast<int64_t>(count_characters(text));
  if (wanted <= have || fill.empty()) {
    out = Value::text(characters(text, 1, std::min(wanted, have) + 1));
    return kOk;
  }
  evaluation.scratch.clear();
  if (!Left) evaluation.scratch = text;
  TM_SQL_TRY(append_fill(fill, wanted - have, evaluation.scratch));
  if (Left) evaluation.scratch += text;
  out = made(evaluation);
  return kOk;
}

bool contains_character(std::string_view set, std::string_view character) {
  for (size_t at = 0; at < set.size(); at += static_cast<size_t>(utf8_length(set[at]))) {
    if (set.substr(at, character.size()) == character) return true;
  }
  return false;
}

template <bool Left, bool Right>
Fault trim(Evaluation&, const Value* args, int count, Value& out) {
  std::string_view text = bytes(args[0]);
  const std::string_view set = count > 1 ? bytes(args[1]) : std::string_view(" ");
  while (Left && !text.empty()) {
    const auto size = static_cast<size_t>(utf8_length(text[0]));
    if (!contains_character(set, text.substr(0, size))) break;
    text.remove_prefix(std::min(size, text.size()));
  }
  while (Right && !text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) --at;
    if (!contains_character(set, text.substr(at))) break;
    text.remove_suffix(text.size() - at);
  }
  out = Value::text(text);
  return kOk;
}

Fault replace(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view text = bytes(args[0]), from = bytes(args[1]), to = bytes(args[2]);
  if (from.empty() || text.find(from) == std::string_view::npos) {
    out = args[0];
    return kOk;
  }
  evaluation.scratch.clear();
  size_t at = 0;
  for (size_t found = text.find(from); found != std::string_view::npos; found = text.find(from, at)) {
    evaluation.scratch.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
    if (is_too_long(evaluation.scratch.size())) return kTooLong;
  }
  evaluation.scratch.append(text.substr(at));
  out = made(evaluation);
  return kOk;
}

Fault translate(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view text = bytes(args[0]), from = bytes(args[1]), to = bytes(args[2]);
  evaluation.scratch.clear();
  for (size_t at = 0; at < text.size();) {
    const auto size = static_cast<size_t>(utf8_length(text[at]));
    const std::string_view character = text.substr(at, size);
    at += size;
    int64_t index = 0;
    size_t found = 0;
    for (; found < from.size(); found += static_cast<size_t>(utf8_length(from[found])), ++index) {
      if (from.substr(found, character.size()) == character) break;
    }
    if (found >= from.size()) {
      evaluation.scratch += character;
    } else {
      evaluation.scratch += characters(to, index + 1, index + 2);
    }
  }
  out = made(evaluation);
  return kOk;
}

Fault reverse(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view text = bytes(args[0]);
  char* result = evaluation.arena.allocate(text.size());
  size_t end = text.size();
  for (size_t at = 0; at < text.size();) {
    const auto size = std::min(static_cast<size_t>(utf8_length(text[at])), text.size() - at);
    end -= size;
    std::memcpy(result + end, text.data() + at, size);
    at += size;
  }
  out = Value::text({result, text.size()});
  return kOk;
}

Fault repeat(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view text = bytes(args[0]);
  const int64_t count = std::max<int64_t>(args[1].as_int(), 0);
  if (count * static_cast<int64_t>(text.size()) > kTextBytesMax) return kTooLong;
  evaluation.scratch.clear();
  for (int64_t i = 0; i < count && !text.empty(); ++i) evaluation.scratch += text;
  out = made(evaluation);
  return kOk;
}

Fault split_part(Evaluation&, const Value* args, int, Value& out) {
  const std::string_view text = bytes(args[0]), separator = bytes(args[1]);
  int64_t wanted = args[2].as_int();
  if (wanted == 0) return {sqlstate::kInvalidParameterValue, "field position must not be zero"};
  if (separator.empty() || text.empty()) {
    out = Value::text(wanted == 1 || wanted == -1 ? text : std::string_view());
    return kOk;
  }
  if (wanted < 0) {
    int64_t fields = 1;
    for (size_t at = text.find(separator); at != std::string_view::npos;
         at = text.find(separator, at + separator.size())) {
      ++fields;
    }
    wanted += fields + 1;
  }
  size_t at = 0;
  out = Value::text({});
  for (; wanted >= 1; --wanted) {
    const size_t end = text.find(separator, at);
    if (wanted == 1) {
      out = Value::text(text.substr(at, end == std::string_view::npos ? end : end - at));
      break;
    }
    if (end == std::string_view::npos) break;
    at = end + separator.size();
  }
  return kOk;
}

Fault starts_with(Evaluation&, const Value* args, int, Value& out) {
  out = Value::boolean(bytes(args[0]).starts_with(bytes(args[1])));
  return kOk;
}

Fault ascii(Evaluation&, const Value* args, int, Value& out) {
  const std::string_view text = bytes(args[0]);
  uint32_t code = 0;
  if (!text.empty()) {
    const int size = utf8_length(text[0]);
    code = static_cast<uint8_t>(text[0]);
    if (size > 1) code &= 0xffu >> (size + 1);
    for (int i = 1; i < size && i < static_cast<int>(text.size()); ++i) code = (code << 6) | (text[i] & 0x3f);
  }
  out = Value::integer(static_cast<int32_t>(code));
  return kOk;
}

Fault chr(Evaluation& evaluation, const Value* args, int, Value& out) {
  const int64_t code = args[0].as_int();
  if (code < 0) return {sqlstate::kInvalidParameterValue, "character number must be positive"};
  if (code == 0) return {sqlstate::kProgramLimitExceeded, "null character not permitted"};
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    return {sqlstate::kProgramLimitExceeded, "requested character not valid for encoding"};
  }
  evaluation.scratch.clear();
  append_utf8(static_cast<uint32_t>(code), evaluation.scratch);
  out = made(evaluation);
  return kOk;
}

Fault concatenate(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view a = bytes(args[0]), b = bytes(args[1]);
  if (is_too_long(a.size() + b.size())) return kTooLong;
  char* result = evaluation.arena.allocate(a.size() + b.size());
  if (!a.empty()) std::memcpy(result, a.data(), a.size());
  if (!b.empty()) std::memcpy(result + a.size(), b.data(), b.size());
  out = Value::of_bytes(args[0].kind(), {result, a.size() + b.size()});
  return kOk;
}

Fault concat(Evaluation& evaluation, const Value* args, int count, Value& out) {
  evaluation.scratch.clear();
  for (int i = 0; i < count; ++i) {
    if (!args[i].is_null()) append_text(args[i], evaluation.scratch);
    if (is_too_long(evaluation.scratch.size())) return kTooLong;
  }
  out = made(evaluation);
  return kOk;
}

Fault concat_with_separator(Evaluation& evaluation, const Value* args, int count, Value& out) {
  if (args[0].is_null()) {
    out = Value::null();
    return kOk;
  }
  evaluation.scratch.clear();
  bool first = true;
  for (int i = 1; i < count; ++i) {
    if (args[i].is_null()) continue;
    if (!first) evaluation.scratch += bytes(args[0]);
    first = false;
    append_text(args[i], evaluation.scratch);
    if (is_too_long(evaluation.scratch.size())) return kTooLong;
  }
  out = made(evaluation);
  return kOk;
}

Function variadic(Function function) {
  function.variadic = true;
  function.strict = false;
  return function;
}

Function refused(std::string_view name, std::initializer_list<TypeKind> args, std::string_view hint) {
  Function out = Function::of(name, args, TypeKind::Text, nullptr);
  out.hint = hint;
  return out;
}

}  // namespace

std::vector<Function> text_functions() {
  constexpr TypeKind T = TypeKind::Text, I = TypeKind::Integer, B = TypeKind::Bytea;
  return {
      Function::of("length", {T}, I, length_in_characters),
      Function::of("char_length", {T}, I, length_in_characters),
      Function::of("character_length", {T}, I, length_in_characters),
      Function::of("length", {B}, I, length_in_bytes),
      Function::of("octet_length", {T}, I, length_in_bytes),
      Function::of("octet_length", {B}, I, length_in_bytes),
      Function::of("lower", {T}, T, map_bytes<lowered>),
      Function::of("upper", {T}, T, map_bytes<raised>),
      Function::of("initcap", {T}, T, initcap),
      Function::of("substr", {T, I}, T, substring_from),
      Function::of("substr", {T, I, I}, T, substring_from_for),
      Function::of("substring", {T, I}, T, substring_from),
      Function::of("substring", {T, I, I}, T, substring_from_for),
      refused("substring", {T, T}, "Write substring(text from integer)."),
      Function::of("left", {T, I}, T, left),
      Function::of("right", {T, I}, T, right),
      Function::of("position", {T, T}, I, position),
      Function::of("strpos", {T, T}, I, position),
      Function::of("lpad", {T, I}, T, pad<true>),
      Function::of("lpad", {T, I, T}, T, pad<true>),
      Function::of("rpad", {T, I}, T, pad<false>),
      Function::of("rpad", {T, I, T}, T, pad<false>),
      Function::of("btrim", {T}, T, trim<true, true>),
      Function::of("btrim", {T, T}, T, trim<true, true>),
      Function::of("ltrim", {T}, T, trim<true, false>),
      Function::of("ltrim", {T, T}, T, trim<true, false>),
      Function::of("rtrim", {T}, T, trim<false, true>),
      Function::of("rtrim", {T, T}, T, trim<false, true>),
      Function::of("replace", {T, T, T}, T, replace),
      Function::of("translate", {T, T, T}, T, translate),
      Function::of("reverse", {T}, T, reverse),
      Function::of("repeat", {T, I}, T, repeat),
      Function::of("split_part", {T, T, I}, T, split_part),
      Function::of("starts_with", {T, T}, TypeKind::Boolean, starts_with),
      Function::of("ascii", {T}, I, ascii),
      Function::of("chr", {I}, T, chr),
      Function::of("||", {T, T}, T, concatenate),
      Function::of("||", {B, B}, B, concatenate),
      variadic(Function::of("concat", {}, T, concat)),
      variadic(Function::of("concat_ws", {T}, T, concat_with_separator)),
  };
}

}  // namespace tidemark::sql
