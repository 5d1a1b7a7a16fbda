#include "tests/sql/random_values.h"

#include <cmath>
#include <limits>

#include "sql/types/datetime.h"
#include "sql/types/text_format.h"

namespace tidemark::sql::testing {
namespace {

Value parsed(TypeKind kind, const std::string& text, Arena& arena) {
  Value out;
  const Fault fault = value_from_text(SqlType::of(kind), text, arena, out);
  TM_ASSERT(fault.ok(), text, fault.state());
  return out;
}

}  // namespace

const std::vector<TypeKind>& column_kinds() {
  static const std::vector<TypeKind> kinds{
      TypeKind::Boolean,     TypeKind::SmallInt, TypeKind::Integer, TypeKind::BigInt, TypeKind::Numeric,
      TypeKind::Double,      TypeKind::Text,     TypeKind::Bytea,   TypeKind::Date,   TypeKind::Timestamp,
      TypeKind::TimestampTz, TypeKind::Uuid,     TypeKind::Jsonb};
  return kinds;
}

int64_t RandomValues::integer(int bits) {
  const int64_t highest = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
  switch (below(6)) {
    case 0: return highest;
    case 1: return -highest - 1;
    case 2:
    case 3: return static_cast<int64_t>(below(21)) - 10;
    case 4: return static_cast<int64_t>(below(2001)) - 1000;
    default: return static_cast<int64_t>(engine_()) >> (64 - bits);
  }
}

double RandomValues::real() {
  switch (below(10)) {
    case 0: return std::numeric_limits<double>::infinity();
    case 1: return -std::numeric_limits<double>::infinity();
    case 2: return std::numeric_limits<double>::quiet_NaN();
    case 3: return chance(50) ? 0.0 : -0.0;
    case 4:
      return chance(50) ? std::numeric_limits<double>::max() : std::numeric_limits<double>::denorm_min();
    case 5: {
      const double any = std::bit_cast<double>(engine_());
      return std::isnan(any) ? 1.5 : any;
    }
    case 6: return std::ldexp(static_cast<double>(integer(32)), static_cast<int>(below(60)) - 40);
    default: return static_cast<double>(static_cast<int64_t>(below(4001)) - 2000) / 8;
  }
}

std::string RandomValues::numeric_text() {
  if (chance(4)) return pick(std::vector<std::string>{"NaN", "Infinity", "-Infinity"});
  std::string out = chance(40) ? "-" : "";
  const size_t whole = chance(10) ? below(60) : chance(50) ? below(4) : below(18);
  const size_t fraction = chance(40) ? 0 : chance(10) ? below(40) : below(6);
  const auto digits = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) out.push_back(chance(25) ? '0' : static_cast<char>('0' + below(10)));
  };
  digits(whole);
  if (whole == 0) out += chance(70) ? "0" : "1000000";
  if (fraction > 0) {
    out.push_back('.');
    digits(fraction);
  }
  return out;
}

std::string RandomValues::text() {
  static const std::vector<std::string> pieces{"a", "b", "A", "B",  "z", "0",  "7",  "-",
                                               " ", "%", "_", "\\", ".", ",",  "'",  "\"",
                                               "é", "ß", "€", "\n", "x", "ab", "\t", "😀"};
  static const std::vector<std::string> wholes{"12",  "-7",  "true", "2021-02-03", "1.50",
                                               " 5 ", "NaN", "f",    "99999999999"};
  if (chance(10)) return pick(wholes);
  std::string out;
  for (size_t i = below(chance(10) ? 30 : 6); i > 0; --i) out += pick(pieces);
  return out;
}

std::string RandomValues::json(int depth) {
  switch (below(depth > 2 ? 5 : 7)) {
    case 0: return "null";
    case 1: return chance(50) ? "true" : "false";
    case 2: {
      const std::string number = numeric_text();
      return number.find_first_of("NI") != std::string::npos ||
                     (number.size() > 1 && number[0] == '0' && number[1] != '.') ||
                     (number.size() > 2 && number[0] == '-' && number[1] == '0' && number[2] != '.')
                 ? "1.50"
                 : number;
    }
    case 3: return "\"\"";
    case 4: {
      std::string out = "\"";
      for (size_t i = below(5); i > 0; --i) {
        out += pick(
            std::vector<std::string>{"a", "b", "é", "\\n", "\\\"", "\\u0007", "\\\\", "\\/", "\\u20ac", "z"});
      }
      return out + "\"";
    }
    case 5: {
      std::string out = "[";
      for (size_t i = below(4); i > 0; --i) out += json(depth + 1) + (i > 1 ? "," : "");
      return out + "]";
    }
    default: {
      std::string out = "{";
      for (size_t i = below(4); i > 0; --i) {
        out += "\"" + pick(std::vector<std::string>{"a", "b", "bb", "c\\n", ""}) + "\" :" + json(depth + 1) +
               (i > 1 ? " , " : "");
      }
      return out + "}";
    }
  }
}

Value RandomValues::value(TypeKind kind, Arena& arena) {
  switch (kind) {
    case TypeKind::Boolean: return Value::boolean(chance(50));
    case TypeKind::SmallInt: return Value::smallint(static_cast<int16_t>(integer(16)));
    case TypeKind::Integer: return Value::integer(static_cast<int32_t>(integer(32)));
    case TypeKind::BigInt: return Value::bigint(integer(64));
    case TypeKind::Double: return Value::float8(real());
    case TypeKind::Numeric: return parsed(kind, numeric_text(), arena);
    case TypeKind::Text: return Value::text(arena.copy(text()));
    case TypeKind::Bytea: {
      std::string bytes = text();
      for (char& c : bytes) c = chance(30) ? static_cast<char>(chance(50) ? 0 : 0xff) : c;
      return Value::bytea(arena.copy(bytes));
    }
    case TypeKind::Date:
      if (chance(5)) return Value::date(chance(50) ? kDateInfinity : kDateMinusInfinity);
      if (chance(10))
        return Value::date(static_cast<int32_t>(static_cast<int64_t>(below(2'147'483'494)) - 2'451'545));
      return Value::date(static_cast<int32_t>(below(20000)) - 5000);
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
      if (chance(5)) return Value::of_int(kind, chance(50) ? kTimestampInfinity : kTimestampMinusInfinity);
      if (chance(10)) {
        return Value::of_int(
            kind, static_cast<int64_t>(below(9'435'184'819'200'000'000u) - 211'813'488'000'000'000u));
      }
      return Value::of_int(
          kind, (static_cast<int64_t>(below(20000)) - 5000) * kDayMicros +
                    static_cast<int64_t>(chance(50) ? below(86'400) * kSecondMicros : below(kDayMicros)));
    case TypeKind::Uuid: {
      Uuid uuid;
      for (uint8_t& byte : uuid) byte = static_cast<uint8_t>(chance(50) ? below(3) * 127 : below(256));
      return Value::uuid(uuid);
    }
    case TypeKind::Jsonb: return parsed(kind, json(0), arena);
    case TypeKind::Interval:
      return Value::interval({static_cast<int64_t>(below(2 * kDayMicros)) - kDayMicros,
                              static_cast<int32_t>(below(81)) - 40, static_cast<int32_t>(below(61)) - 30});
    case TypeKind::Null:
    case TypeKind::Unknown: break;
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark::sql::testing
