// Functions of bytea that have the names of text's, with bytes for characters.
#include <algorithm>

#include "sql/expr/function.h"

namespace tidemark::sql {
namespace {

Value made(std::string_view bytes) {
  return Value::of_bytes(TypeKind::Bytea, bytes);
}

template <bool Left, bool Right>
Fault trim(Evaluation&, const Value* args, int, Value& out) {
  std::string_view bytes = args[0].as_bytes();
  const std::string_view set = args[1].as_bytes();
  const auto is_in_set = [set](char byte) { return set.find(byte) != std::string_view::npos; };
  while (Left && !bytes.empty() && is_in_set(bytes.front())) bytes.remove_prefix(1);
  while (Right && !bytes.empty() && is_in_set(bytes.back())) bytes.remove_suffix(1);
  out = made(bytes);
  return kOk;
}

// Bytes [begin, end) counted from 1, clipped to what is there.
std::string_view clipped(std::string_view bytes, int64_t begin, int64_t end) {
  const auto size = static_cast<int64_t>(bytes.size());
  begin = std::clamp<int64_t>(begin, 1, size + 1);
  end = std::clamp<int64_t>(end, begin, size + 1);
  return bytes.substr(static_cast<size_t>(begin - 1), static_cast<size_t>(end - begin));
}

Fault substring_from(Evaluation&, const Value* args, int, Value& out) {
  out = made(clipped(args[0].as_bytes(), args[1].as_int(), INT64_MAX));
  return kOk;
}
Fault substring_from_for(Evaluation&, const Value* args, int, Value& out) {
  if (args[2].as_int() < 0) return {sqlstate::kSubstringError, "negative substring length not allowed"};
  out = made(clipped(args[0].as_bytes(), args[1].as_int(), args[1].as_int() + args[2].as_int()));
  return kOk;
}

Fault position(Evaluation&, const Value* args, int, Value& out) {
  const size_t at = args[0].as_bytes().find(args[1].as_bytes());
  out = Value::integer(at == std::string_view::npos ? 0 : static_cast<int32_t>(at) + 1);
  return kOk;
}

}  // namespace

std::vector<Function> bytes_functions() {
  constexpr TypeKind B = TypeKind::Bytea, I = TypeKind::Integer;
  return {
      Function::of("btrim", {B, B}, B, trim<true, true>),
      Function::of("ltrim", {B, B}, B, trim<true, false>),
      Function::of("rtrim", {B, B}, B, trim<false, true>),
      Function::of("position", {B, B}, I, position),
      Function::of("substr", {B, I}, B, substring_from),
      Function::of("substr", {B, I, I}, B, substring_from_for),
      Function::of("substring", {B, I}, B, substring_from),
      Function::of("substring", {B, I, I}, B, substring_from_for),
  };
}

}  // namespace tidemark::sql
