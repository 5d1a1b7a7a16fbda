// Arrays of one dimension, as text in PostgreSQL's form: see sql/types/array_text.h.
#include "sql/expr/function.h"
#include "sql/expr/text_limit.h"
#include "sql/types/array_text.h"
#include "sql/types/compare.h"
#include "sql/types/text_format.h"

namespace tidemark::sql {
namespace {

using Elements = std::vector<ArrayElement>;

// A vector of the catalog is numbers with spaces between; its numbering starts at 0, not 1.
bool is_vector(std::string_view text) {
  return !text.starts_with('{');
}

Fault read(Evaluation& evaluation, const Value& array, Elements& out) {
  auto elements = parse_array(array.as_bytes());
  if (!elements) {
    return evaluation.fail(sqlstate::kInvalidTextRepresentation,
                           "malformed array literal: \"" + std::string(array.as_bytes()) + "\"");
  }
  out = std::move(*elements);
  return kOk;
}

Fault read_element(Evaluation& evaluation, SqlType type, std::string_view element, Value& out) {
  const Fault fault = value_from_text(type, element, evaluation.arena, out);
  if (!fault.ok()) evaluation.error = input_error(fault, type, element);
  return fault;
}

Value text(Evaluation& evaluation, std::string_view bytes) {
  return Value::text(evaluation.arena.copy(bytes));
}

// ARRAY[...]: variadic, so the elements come as any type.
Fault construct(Evaluation& evaluation, const Value* args, int count, Value& out) {
  std::string built = "{";
  for (int i = 0; i < count; ++i) {
    append_array_element(args[i].is_null() ? ArrayElement() : ArrayElement(to_text(args[i])), built);
    if (is_too_long(built.size())) return kTooLong;
  }
  out = text(evaluation, built + "}");
  return kOk;
}

// A cast to an array of the type with the object id args[1]: its elements as that type writes them.
Fault array_in(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::optional<TypeKind> kind = type_of_oid(static_cast<uint32_t>(args[1].as_int()));
  if (!kind || *kind == TypeKind::Unknown)
    return evaluation.fail(sqlstate::kUndefinedObject, "no such type of elements");
  Elements elements;
  TM_SQL_TRY(read(evaluation, args[0], elements));
  for (ArrayElement& item : elements) {
    if (!item) continue;
    Value value;
    TM_SQL_TRY(read_element(evaluation, SqlType::of(*kind), *item, value));
    item = to_text(value);
  }
  const std::string built = format_array(elements);
  if (is_too_long(built.size())) return kTooLong;
  out = text(evaluation, built);
  return kOk;
}

Fault element(Evaluation& evaluation, const Value* args, int, Value& out) {
  Elements elements;
  TM_SQL_TRY(read(evaluation, args[0], elements));
  const int64_t index = args[1].as_int() + (is_vector(args[0].as_bytes()) ? 1 : 0);
  const bool inside = index >= 1 && index <= static_cast<int64_t>(elements.size()) && elements[index - 1];
  out = inside ? text(evaluation, *elements[index - 1]) : Value::null();
  return kOk;
}

// x = ANY (array), whose elements are read as values of x's type; with Negated, x <> ALL (array).
template <bool Negated>
Fault any(Evaluation& evaluation, const Value* args, int, Value& out) {
  Elements elements;
  TM_SQL_TRY(read(evaluation, args[1], elements));
  const SqlType type = SqlType::of(args[0].kind());
  bool has_null = false, found = false;
  for (const ArrayElement& item : elements) {
    has_null = has_null || !item;
    if (!item) continue;
    Value value;
    TM_SQL_TRY(read_element(evaluation, type, *item, value));
    found = found || compare_values(args[0], value) == 0;
  }
  out = !found && has_null ? Value::null() : Value::boolean(found != Negated);
  return kOk;
}

// array_length, array_upper: NULL for an empty array. Bounds start at 1.
Fault upper(Evaluation& evaluation, const Value* args, int count, Value& out) {
  Elements elements;
  TM_SQL_TRY(read(evaluation, args[0], elements));
  const bool exists = !elements.empty() && (count < 2 || args[1].as_int() == 1);
  out = exists ? Value::integer(static_cast<int32_t>(elements.size())) : Value::null();
  return kOk;
}
Fault lower(Evaluation& evaluation, const Value* args, int count, Value& out) {
  TM_SQL_TRY(upper(evaluation, args, count, out));
  if (!out.is_null()) out = Value::integer(1);
  return kOk;
}
Fault cardinality(Evaluation& evaluation, const Value* args, int, Value& out) {
  Elements elements;
  TM_SQL_TRY(read(evaluation, args[0], elements));
  out = Value::integer(static_cast<int32_t>(elements.size()));
  return kOk;
}

// NULLs are left out, or shown as the third argument.
Fault to_string(Evaluation& evaluation, const Value* args, int count, Value& out) {
  Elements elements;
  TM_SQL_TRY(read(evaluation, args[0], elements));
  std::string joined;
  bool first = true;
  for (const ArrayElement& item : elements) {
    if (!item && count < 3) continue;
    if (!first) joined += args[1].as_bytes();
    joined += item ? std::string_view(*item) : args[2].as_bytes();
    if (is_too_long(joined.size())) return kTooLong;
    first = false;
  }
  out = text(evaluation, joined);
  return kOk;
}

Fault from_string(Evaluation& evaluation, const Value* args, int, Value& out) {
  std::string_view rest = args[0].as_bytes();
  const std::string_view separator = args[1].as_bytes();
  Elements elements;
  if (!rest.empty() && separator.empty()) elements.emplace_back(std::string(rest));
  while (!separator.empty() && !args[0].as_bytes().empty()) {
    const size_t end = rest.find(separator);
    elements.emplace_back(std::string(rest.substr(0, end)));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + separator.size());
  }
  out = text(evaluation, format_array(elements));
  return kOk;
}

// A field of a row of two numbers, as text: (x,n).
template <int Index>
Fault field(Evaluation& evaluation, const Value* args, int, Value& out) {
  std::string_view row = args[0].as_bytes();
  const size_t comma = row.find(',');
  if (row.size() < 2 || comma == std::string_view::npos) {
    return evaluation.fail(sqlstate::kInvalidTextRepresentation,
                           "malformed record literal: \"" + std::string(row) + "\"");
  }
  row = Index == 0 ? row.substr(1, comma - 1) : row.substr(comma + 1, row.size() - comma - 2);
  Value number;
  TM_SQL_TRY(value_from_text(SqlType::of(TypeKind::Integer), row, evaluation.arena, number));
  out = number;
  return kOk;
}

}  // namespace

std::vector<Function> array_functions() {
  constexpr TypeKind T = TypeKind::Text, I = TypeKind::Integer, B = TypeKind::Boolean;
  Function array = Function::of("array[]", {}, T, construct);
  array.strict = false;
  array.variadic = true;
  std::vector<Function> out = {
      array,
      Function::of("array_in", {T, I}, T, array_in),
      // The element's type is what its place wants.
      Function::of("[]", {T, I}, TypeKind::Unknown, element),
      Function::of("array_length", {T, I}, I, upper),
      Function::of("array_upper", {T, I}, I, upper),
      Function::of("array_lower", {T, I}, I, lower),
      Function::of("cardinality", {T}, I, cardinality),
      Function::of("array_to_string", {T, T}, T, to_string),
      Function::of("array_to_string", {T, T, T}, T, to_string),
      Function::of("string_to_array", {T, T}, T, from_string),
      Function::of(".x", {T}, I, field<0>),
      Function::of(".n", {T}, I, field<1>),
  };
  for (int kind = 1; kind < static_cast<int>(TypeKind::Unknown); ++kind) {
    out.push_back(Function::of("=any", {static_cast<TypeKind>(kind), T}, B, any<false>));
    out.push_back(Function::of("<>all", {static_cast<TypeKind>(kind), T}, B, any<true>));
  }
  return out;
}

}  // namespace tidemark::sql
