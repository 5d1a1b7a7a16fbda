// Values from and to PostgreSQL's text.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/assert.h"
#include "verify/calendar.h"
#include "verify/decimal.h"
#include "verify/functions.h"
#include "verify/json_text.h"

namespace tidemark::verify {

namespace {

std::string trimmed(const std::string& text) {
  const char* spaces = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(spaces);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

std::optional<bool> parse_boolean(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word.empty()) return {};
  const auto begins = [&](const char* whole) { return std::string(whole).starts_with(word); };
  if (begins("true") || begins("yes") || word == "on" || word == "1") return true;
  if (begins("false") || begins("no") || word == "of" || word == "off" || word == "0") return false;
  return {};
}

std::optional<int64_t> parse_integer(std::string word, int width) {
  if (word.starts_with("+")) word.erase(0, 1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || word.empty()) return {};
  const Int128 limit = static_cast<Int128>(1) << (width * 8 - 1);
  if (value < -limit || value >= limit) return {};
  return value;
}

std::optional<double> parse_double(const std::string& word) {
  if (word.empty() || word.find_first_of("xXpP") != std::string::npos) return {};
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (*end != '\0') return {};
  return value;
}

std::optional<std::string> parse_bytea(const std::string& text) {
  std::string out;
  if (text.starts_with("\\x")) {
    std::string digits;
    for (char c : text.substr(2)) {
      if (c != ' ') digits += c;
    }
    if (digits.size() % 2 != 0) return {};
    for (size_t i = 0; i < digits.size(); i += 2) {
      int byte = 0;
      const auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
      if (error != std::errc() || end != digits.data() + i + 2) return {};
      out += static_cast<char>(byte);
    }
    return out;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text.compare(i, 2, "\\\\") == 0) {
      out += text[++i];
    } else if (i + 3 < text.size()) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      return {};
    }
  }
  return out;
}

std::optional<std::string> parse_uuid(const std::string& text) {
  std::string digits;
  for (char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c))) {
      digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (c != '-' && c != '{' && c != '}') {
      return {};
    }
  }
  if (digits.size() != 32) return {};
  for (size_t at : {20, 16, 12, 8}) digits.insert(at, 1, '-');
  return digits;
}

std::string bytea_text(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\\x";
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

template <typename T>
std::optional<Value> optional_value(const std::optional<T>& value) {
  if (!value) return {};
  return Value(*value);
}

std::optional<Value> parse_value(TypeKind kind, const std::string& text) {
  switch (kind) {
    case TypeKind::Unknown:
    case TypeKind::Text: return Value(text);
    case TypeKind::Boolean: {
      const auto value = parse_boolean(trimmed(text));
      if (!value) return {};
      return Value(int64_t{*value});
    }
    case TypeKind::Int2:
    case TypeKind::Int4:
    case TypeKind::Int8: return optional_value(parse_integer(trimmed(text), integer_width(kind)));
    case TypeKind::Numeric: {
      const auto value = Decimal::parse(text);
      if (!value) return {};
      return Value(value->text());
    }
    case TypeKind::Float8: {
      const auto value = parse_double(trimmed(text));
      if (value && std::isnan(*value)) return Value(std::string("NaN"));
      return optional_value(value);
    }
    case TypeKind::Bytea: {
      auto bytes = parse_bytea(text);
      if (!bytes) return {};
      return Value(Blob{std::move(*bytes)});
    }
    case TypeKind::Date: return optional_value(parse_date(text));
    case TypeKind::Timestamp: return optional_value(parse_timestamp(text, Zone::Ignored));
    case TypeKind::TimestampTz: return optional_value(parse_timestamp(text, Zone::Applied));
    case TypeKind::Interval: {
      const auto value = parse_interval(text);
      if (!value) return {};
      return Value(value->packed());
    }
    case TypeKind::Uuid: return optional_value(parse_uuid(trimmed(text)));
    case TypeKind::Jsonb: {
      const auto value = Json::parse(text);
      if (!value) return {};
      return Value(value->print());
    }
  }
  TM_UNREACHABLE();
}

}  // namespace

Result<Value> value_of_text(TypeKind kind, const std::string& text) {
  auto value = parse_value(kind, text);
  if (!value)
    return Error{"invalid input syntax for type " + std::string(type_name(kind)) + ": \"" + text + "\""};
  return std::move(*value);
}

std::string text_of(TypeKind kind, const Value& value) {
  switch (kind) {
    case TypeKind::Boolean: return as_int(value) != 0 ? "t" : "f";
    case TypeKind::Int2:
    case TypeKind::Int4:
    case TypeKind::Int8: return std::to_string(as_int(value));
    case TypeKind::Float8: return double_text(as_double(value));
    case TypeKind::Bytea: return bytea_text(std::get<Blob>(value).bytes);
    case TypeKind::Date: return date_text(as_int(value));
    case TypeKind::Timestamp: return timestamp_text(as_int(value), Zone::Ignored);
    case TypeKind::TimestampTz: return timestamp_text(as_int(value), Zone::Applied);
    case TypeKind::Unknown:
    case TypeKind::Numeric:
    case TypeKind::Text:
    case TypeKind::Interval:
    case TypeKind::Uuid:
    case TypeKind::Jsonb: return as_text(value);
  }
  TM_UNREACHABLE();
}

std::string equality_key(TypeKind kind, const std::string& text) {
  if (kind == TypeKind::Numeric) {
    const auto number = Decimal::parse(text);
    return number ? number->normalized().text() : text;
  }
  if (kind == TypeKind::Jsonb) {
    const auto json = Json::parse(text);
    return json ? json->key() : text;
  }
  return text;
}

void register_conversions(Database& database) {
  // The kind of type is a constant of the translator's.
  database.add_function("value_in", 2, Nulls::Strict, [](Values v) {
    return value_of_text(static_cast<TypeKind>(as_int(v[0])), as_text(v[1]));
  });
  database.add_function("value_out", 2, Nulls::Strict, [](Values v) -> Result<Value> {
    const auto kind = static_cast<TypeKind>(as_int(v[0]));
    if (kind == TypeKind::Boolean) return Value(std::string(as_int(v[1]) != 0 ? "true" : "false"));
    return Value(text_of(kind, v[1]));
  });
}

void register_functions(Database& database) {
  register_conversions(database);
  register_number_functions(database);
  register_text_functions(database);
  register_time_functions(database);
  register_json_functions(database);
  register_aggregates(database);
}

}  // namespace tidemark::verify
