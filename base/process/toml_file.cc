#include "base/process/toml_file.h"

#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace tidemark {
namespace {

std::optional<std::vector<std::string>> texts_of(const toml::array& array) {
  std::vector<std::string> texts;
  for (const toml::node& element : array) {
    const auto* text = element.as_string();
    if (text == nullptr) return std::nullopt;
    texts.push_back(text->get());
  }
  return texts;
}

TomlValue value_of(const toml::node& node, std::string name, std::string where) {
  TomlValue value{std::move(name), TomlKind::Other, {}, std::move(where)};
  if (const auto* boolean = node.as_boolean()) {
    value.kind = TomlKind::Boolean;
    value.texts = {boolean->get() ? "true" : "false"};
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlKind::Integer;
    value.texts = {std::to_string(integer->get())};
  } else if (const auto* real = node.as_floating_point()) {
    std::ostringstream text;
    text.precision(17);
    text << real->get();
    value.kind = TomlKind::Real;
    value.texts = {text.str()};
  } else if (const auto* text = node.as_string()) {
    value.kind = TomlKind::Text;
    value.texts = {text->get()};
  } else if (const auto* array = node.as_array()) {
    if (auto texts = texts_of(*array)) {
      value.kind = TomlKind::Texts;
      value.texts = *std::move(texts);
    }
  }
  return value;
}

void flatten(const toml::table& table, const std::string& path, const std::string& prefix,
             std::vector<TomlValue>& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const auto* below = node.as_table()) {
      flatten(*below, path, name + ".", out);
    } else {
      out.push_back(value_of(node, name, path + ":" + std::to_string(node.source().begin.line)));
    }
  }
}

}  // namespace

Result<std::vector<TomlValue>> read_toml(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, ignored)) return Error{path + ": can't be read"};
  try {
    std::vector<TomlValue> values;
    flatten(toml::parse(file, path), path, "", values);
    return values;
  } catch (const toml::parse_error& error) {
    return Error{path + ":" + std::to_string(error.source().begin.line) + ": " +
                 std::string(error.description())};
  }
}

}  // namespace tidemark
