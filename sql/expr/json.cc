#include "sql/expr/function.h"
#include "sql/types/jsonb.h"

namespace tidemark::sql {
namespace {

bool find_part(const Value* args, std::string_view& out) {
  return args[1].kind() == TypeKind::Text ? jsonb_field(args[0].as_bytes(), args[1].as_bytes(), out)
                                          : jsonb_element(args[0].as_bytes(), args[1].as_int(), out);
}

Fault part(Evaluation&, const Value* args, int, Value& out) {
  std::string_view found;
  out = find_part(args, found) ? Value::jsonb(found) : Value::null();
  return kOk;
}

Fault part_as_text(Evaluation& evaluation, const Value* args, int, Value& out) {
  std::string_view found;
  if (!find_part(args, found) || jsonb_kind(found) == JsonKind::Null) {
    out = Value::null();
    return kOk;
  }
  out = Value::text(jsonb_as_text(found, evaluation.arena));
  return kOk;
}

Fault concatenate(Evaluation& evaluation, const Value* args, int, Value& out) {
  evaluation.scratch.clear();
  jsonb_concatenate(args[0].as_bytes(), args[1].as_bytes(), evaluation.scratch);
  out = Value::jsonb(evaluation.arena.copy(evaluation.scratch));
  return kOk;
}

Fault type_of(Evaluation&, const Value* args, int, Value& out) {
  switch (jsonb_kind(args[0].as_bytes())) {
    case JsonKind::Null: out = Value::text("null"); break;
    case JsonKind::String: out = Value::text("string"); break;
    case JsonKind::Number: out = Value::text("number"); break;
    case JsonKind::Boolean: out = Value::text("boolean"); break;
    case JsonKind::Array: out = Value::text("array"); break;
    case JsonKind::Object: out = Value::text("object"); break;
    case JsonKind::Malformed: return {sqlstate::kDataCorrupted, "malformed jsonb"};
  }
  return kOk;
}

Fault array_length(Evaluation&, const Value* args, int, Value& out) {
  const int64_t length = jsonb_array_length(args[0].as_bytes());
  if (length < 0) return {sqlstate::kInvalidParameterValue, "cannot get array length of a non-array"};
  out = Value::integer(static_cast<int32_t>(length));
  return kOk;
}

Function refused(std::string_view name, TypeKind right, TypeKind result) {
  Function out = Function::of(name, {TypeKind::Jsonb, right}, result, nullptr);
  out.hint = "Read parts with -> and ->>.";
  return out;
}

}  // namespace

std::vector<Function> json_functions() {
  constexpr TypeKind J = TypeKind::Jsonb, T = TypeKind::Text, I = TypeKind::Integer;
  return {
      Function::of("->", {J, T}, J, part),
      Function::of("->", {J, I}, J, part),
      Function::of("->>", {J, T}, T, part_as_text),
      Function::of("->>", {J, I}, T, part_as_text),
      Function::of("||", {J, J}, J, concatenate),
      refused("-", T, J),
      refused("-", I, J),
      refused("@>", J, TypeKind::Boolean),
      refused("<@", J, TypeKind::Boolean),
      refused("?", T, TypeKind::Boolean),
      Function::of("jsonb_typeof", {J}, T, type_of),
      Function::of("jsonb_array_length", {J}, I, array_length),
  };
}

}  // namespace tidemark::sql
