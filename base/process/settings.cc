#include "base/process/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "base/assert.h"
#include "base/nearest.h"
#include "base/process/toml_file.h"

namespace tidemark {
namespace {

constexpr const char* kConfigFlag = "config";

template <typename T>
Result<T> parse_number(const std::string& text, const std::string& expected) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return Error{"'" + text + "' is out of range"};
  if (error != std::errc() || end != text.data() + text.size())
    return Error{"'" + text + "' is not " + expected};
  return value;
}

Result<double> parse_real(const std::string& text) {
  const auto value = parse_number<double>(text, "a number");
  if (value && !std::isfinite(*value)) return Error{"'" + text + "' is not finite"};
  return value;
}

Result<bool> parse_boolean(const std::string& text) {
  if (text != "true" && text != "false") return Error{"'" + text + "' is not true or false"};
  return text == "true";
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

std::string join(std::span<const std::string> parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ",") + part;
  return all;
}

// Sets `variable` to what `parse` makes of the one text.
template <typename T, typename Parse>
auto setter(T& variable, Parse parse) {
  return [&variable, parse](std::span<const std::string> texts) -> Status {
    TM_ASSERT(texts.size() == 1, texts.size());
    const auto value = parse(texts.front());
    if (!value) return value.error();
    variable = *value;
    return {};
  };
}

}  // namespace

void Settings::add(const std::string& name, bool& variable, const std::string& help) {
  add_setting({name, Kind::Boolean, help, variable ? "true" : "false", setter(variable, parse_boolean)});
}

void Settings::add(const std::string& name, double& variable, const std::string& help) {
  std::ostringstream shown;
  shown << variable;
  add_setting({name, Kind::Real, help, shown.str(), setter(variable, parse_real)});
}

void Settings::add(const std::string& name, std::string& variable, const std::string& help) {
  const auto as_it_is = [](const std::string& text) { return Result<std::string>(text); };
  add_setting({name, Kind::Text, help, variable, setter(variable, as_it_is)});
}

void Settings::add(const std::string& name, std::vector<std::string>& variable, const std::string& help) {
  add_setting(
      {name, Kind::Texts, help, join(variable), [&variable](std::span<const std::string> texts) -> Status {
         variable.assign(texts.begin(), texts.end());
         return {};
       }});
}

void Settings::add(const std::string& name, Micros& variable, const std::string& help) {
  add_setting({name, Kind::Duration, help, show_duration(variable), setter(variable, parse_duration)});
}

void Settings::add(const std::string& name, ByteSize& variable, const std::string& help) {
  add_setting({name, Kind::Size, help, show_size(variable), setter(variable, parse_size)});
}

void Settings::add_integer(const std::string& name, const std::string& help, IntegerRange range,
                           std::function<void(uint64_t)> set) {
  add_setting({name, Kind::Integer, help, std::to_string(range.initial),
               [set = std::move(set), max = range.max](std::span<const std::string> texts) -> Status {
                 const auto value = parse_number<uint64_t>(texts.front(), "a whole number, 0 or more");
                 if (!value) return value.error();
                 if (*value > max)
                   return Error{"'" + texts.front() + "' is more than " + std::to_string(max)};
                 set(*value);
                 return {};
               }});
}

void Settings::add_setting(Setting setting) {
  TM_ASSERT(find(setting.name) == nullptr, setting.name);
  TM_ASSERT(setting.name != kConfigFlag);
  settings_.push_back(std::move(setting));
}

const Settings::Setting* Settings::find(std::string_view name) const {
  const auto it =
      std::find_if(settings_.begin(), settings_.end(), [&](const auto& s) { return s.name == name; });
  return it == settings_.end() ? nullptr : &*it;
}

std::string Settings::suggestion(std::string_view name) const {
  std::vector<std::string> known;
  for (const Setting& setting : settings_) known.push_back(setting.name);
  return did_you_mean(name, known);
}

std::string_view Settings::name_of(Kind kind) {
  switch (kind) {
    case Kind::Boolean: return "true or false";
    case Kind::Integer: return "a whole number";
    case Kind::Real: return "a number";
    case Kind::Text: return "a string";
    case Kind::Texts: return "an array of strings";
    case Kind::Duration: return "a string such as \"250ms\"";
    case Kind::Size: return "a string such as \"64MB\"";
  }
  TM_UNREACHABLE();
}

Status Settings::load_file(const std::string& path) {
  const auto may_be = [](Kind kind, TomlKind given) {
    switch (given) {
      case TomlKind::Boolean: return kind == Kind::Boolean;
      case TomlKind::Integer: return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Size;
      case TomlKind::Real: return kind == Kind::Real;
      case TomlKind::Text: return kind == Kind::Text || kind == Kind::Duration || kind == Kind::Size;
      case TomlKind::Texts: return kind == Kind::Texts;
      case TomlKind::Other: return false;
    }
    TM_UNREACHABLE();
  };
  const auto values = read_toml(path);
  if (!values) return values.error();
  for (const TomlValue& value : *values) {
    const Setting* setting = find(value.name);
    if (setting == nullptr) {
      return Error{value.where + ": there is no setting '" + value.name + "'" + suggestion(value.name)};
    }
    if (!may_be(setting->kind, value.kind)) {
      return Error{value.where + ": " + value.name + " must be " + std::string(name_of(setting->kind))};
    }
    if (const Status set = setting->set(value.texts); !set) {
      return Error{value.where + ": " + value.name + ": " + set.error().message};
    }
  }
  return {};
}

Result<size_t> Settings::read_flag(std::span<const std::string> words, CommandLine& line) const {
  const std::string& word = words.front();
  const size_t equals = word.find('=');
  const std::string flag = word.substr(0, equals);
  const std::string name = flag.substr(flag.starts_with("--") ? 2 : 1);
  const Setting* setting = find(name);
  if (setting == nullptr && name != kConfigFlag)
    return Error{"there is no flag '" + flag + "'" + suggestion(name)};

  size_t used = 1;
  std::string text = "true";
  if (equals != std::string::npos) {
    text = word.substr(equals + 1);
  } else if (setting == nullptr || setting->kind != Kind::Boolean) {
    if (words.size() < 2) return Error{flag + " needs a value"};
    text = words[1];
    used = 2;
  }
  if (setting == nullptr) {
    line.config = text;
  } else {
    line.flags.push_back({setting, text});
  }
  return used;
}

Result<Settings::CommandLine> Settings::read(std::span<const std::string> words) const {
  CommandLine line;
  auto& positional = line.arguments.positional;
  while (!words.empty()) {
    const std::string& word = words.front();
    size_t used = 1;
    if (word == "--") {
      positional.insert(positional.end(), words.begin() + 1, words.end());
      break;
    }
    if (word == "--help" || word == "-h") {
      line.arguments.help = true;
    } else if (word == "--print-config") {
      line.arguments.print_config = true;
    } else if (!word.starts_with("-") || word == "-") {
      positional.push_back(word);
    } else {
      const auto flag = read_flag(words, line);
      if (!flag) return flag.error();
      used = *flag;
    }
    words = words.subspan(used);
  }
  return line;
}

Result<Settings::Arguments> Settings::parse(int argc, const char* const* argv) {
  TM_ASSERT(argc >= 1, argc);
  const std::vector<std::string> words(argv + 1, argv + argc);
  auto line = read(words);
  if (!line) return line.error();
  if (line->arguments.help || line->arguments.print_config) return line->arguments;
  if (!line->config.empty()) TM_TRY(load_file(line->config));
  for (const auto& [setting, text] : line->flags) {
    const auto texts = setting->kind == Kind::Texts ? split(text) : std::vector<std::string>{text};
    if (const Status set = setting->set(texts); !set) {
      return Error{"--" + setting->name + ": " + set.error().message};
    }
  }
  return line->arguments;
}

std::string Settings::help_text() const {
  std::string text =
      "  --config <file>\n      a TOML file with settings; flags override it\n"
      "  --print-config\n      prints such a file, with every setting and what it is for\n";
  for (const Setting& setting : settings_) {
    text += "  --" + setting.name;
    text += setting.shown_default.empty() ? "" : "  [" + setting.shown_default + "]";
    text += "\n      " + setting.help + "\n";
  }
  return text;
}

std::string Settings::example_file() const {
  const auto shown = [](const Setting& setting) -> std::string {
    switch (setting.kind) {
      case Kind::Boolean:
      case Kind::Integer:
      case Kind::Real: return setting.shown_default;
      case Kind::Texts: return setting.shown_default.empty() ? "[]" : "[\"" + setting.shown_default + "\"]";
      case Kind::Text:
      case Kind::Duration:
      case Kind::Size: return "\"" + setting.shown_default + "\"";
    }
    TM_UNREACHABLE();
  };
  // A section holds all that follows it: settings without one come first, and each section is written once.
  std::vector<std::string> sections{""};
  std::map<std::string, std::string> lines;
  for (const Setting& setting : settings_) {
    const size_t dot = setting.name.find('.');
    const std::string section = dot == std::string::npos ? "" : setting.name.substr(0, dot);
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
    lines[section] += "# " + setting.help + "\n" + setting.name.substr(section.empty() ? 0 : dot + 1) +
                      " = " + shown(setting) + "\n";
  }
  std::string text;
  for (const std::string& section : sections) {
    if (!section.empty()) text += (text.empty() ? "[" : "\n[") + section + "]\n";
    text += lines[section];
  }
  return text;
}

}  // namespace tidemark
