#include "base/assert.h"
#include "verify/functions.h"
#include "verify/json_text.h"

namespace tidemark::verify {

namespace {

using R = Result<Value>;

Json json(const Value& value) {
  auto out = Json::parse(as_text(value));
  TM_ASSERT(out.has_value());
  return std::move(*out);
}

// -> and ->>: by name in an object, by number in an array.
const Json* part(const Json& of, const Value& where) {
  if (const auto* index = std::get_if<int64_t>(&where)) {
    if (of.kind == Json::Kind::Array) return of.item(*index);
    // To PostgreSQL a bare scalar is an array of one.
    return of.kind != Json::Kind::Object && (*index == 0 || *index == -1) ? &of : nullptr;
  }
  return of.kind == Json::Kind::Object ? of.member(as_text(where)) : nullptr;
}

Value as_sql_text(const Json& value) {
  if (value.kind == Json::Kind::Null) return {};
  return value.kind == Json::Kind::String ? value.text : value.print();
}

const char* kind_name(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::Null: return "null";
    case Json::Kind::False:
    case Json::Kind::True: return "boolean";
    case Json::Kind::Number: return "number";
    case Json::Kind::String: return "string";
    case Json::Kind::Array: return "array";
    case Json::Kind::Object: return "object";
  }
  TM_UNREACHABLE();
}

// || as jsonb has it: objects merge, everything else becomes one array.
Json concatenated(Json a, Json b) {
  if (a.kind == Json::Kind::Object && b.kind == Json::Kind::Object) {
    std::string both = a.print();
    const std::string second = b.print();
    both.pop_back();
    if (!a.members.empty() && !b.members.empty()) both += ",";
    return *Json::parse(both + second.substr(1));
  }
  Json out{Json::Kind::Array, {}, {}, {}};
  for (Json* side : {&a, &b}) {
    if (side->kind == Json::Kind::Array) {
      for (Json& item : side->items) out.items.push_back(std::move(item));
    } else {
      out.items.push_back(std::move(*side));
    }
  }
  return out;
}

}  // namespace

void register_json_functions(Database& database) {
  auto add = [&](const char* name, int arguments, R (*function)(Values)) {
    database.add_function(name, arguments, Nulls::Strict, function);
  };
  add("json_part", 2, [](Values v) -> R {
    const Json whole = json(v[0]);
    const Json* found = part(whole, v[1]);
    return found ? Value(found->print()) : Value();
  });
  add("json_part_text", 2, [](Values v) -> R {
    const Json whole = json(v[0]);
    const Json* found = part(whole, v[1]);
    return found ? as_sql_text(*found) : Value();
  });
  add("json_kind", 1, [](Values v) -> R { return Value(std::string(kind_name(json(v[0]).kind))); });
  add("json_length", 1, [](Values v) -> R {
    const Json value = json(v[0]);
    if (value.kind != Json::Kind::Array) return Error{"cannot get array length of a non-array"};
    return Value(static_cast<int64_t>(value.items.size()));
  });
  add("json_concat", 2, [](Values v) -> R { return Value(concatenated(json(v[0]), json(v[1])).print()); });
  add("json_key", 1, [](Values v) -> R { return Value(json(v[0]).key()); });
  // Casts of a JSON number or boolean: what it says, as the text of a numeric, or 0 or 1.
  add("json_number", 1, [](Values v) -> R {
    const Json value = json(v[0]);
    if (value.kind != Json::Kind::Number) return Error{"cannot cast jsonb to a number"};
    return Value(value.text);
  });
  add("json_boolean", 1, [](Values v) -> R {
    const Json value = json(v[0]);
    if (value.kind != Json::Kind::True && value.kind != Json::Kind::False) {
      return Error{"cannot cast jsonb to boolean"};
    }
    return Value(int64_t{value.kind == Json::Kind::True});
  });
}

}  // namespace tidemark::verify
