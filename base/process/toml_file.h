// A TOML file as a flat list of settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tidemark {

enum class TomlKind : uint8_t { Boolean, Integer, Real, Text, Texts, Other };

struct TomlValue {
  std::string name;  // "node.listen" for listen in [node].
  TomlKind kind;
  std::vector<std::string> texts;  // The value, or, of Texts, the values; none of Other.
  std::string where;               // "tidemark.toml:12"
};

// In the order of names. Refused: a file that can't be read, or is no TOML; the reason names the line.
Result<std::vector<TomlValue>> read_toml(const std::string& path);

}  // namespace tidemark
