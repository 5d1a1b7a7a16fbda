// jsonb as text: read, and printed as PostgreSQL prints it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::verify {

struct Json {
  enum class Kind : uint8_t { Null, False, True, Number, String, Array, Object };
  Kind kind = Kind::Null;
  std::string text;  // Of a number, its digits as PostgreSQL's numeric; of a string, what it says.
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;  // By length, then bytes; each name once.

  // None: not JSON, or what jsonb refuses.
  static std::optional<Json> parse(std::string_view text);
  std::string print() const;
  // Equal values have equal keys: numbers without trailing zeros.
  std::string key() const;
  const Json* member(std::string_view name) const;
  const Json* item(int64_t index) const;  // Negative: from the end.

 private:
  void print_to(std::string& out, bool as_key) const;
};

}  // namespace tidemark::verify
