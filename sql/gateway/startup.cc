#include "sql/gateway/startup.h"

#include <algorithm>

namespace tidemark::sql {

namespace {

bool is_utf8_name(std::string_view name) {
  std::string plain;
  for (char c : name) {
    if (c != '-' && c != '_' && c != '\'') plain.push_back(static_cast<char>(std::tolower(c)));
  }
  return plain == "utf8" || plain == "unicode" || plain == "sqlascii";
}

// The words of `options`: separated by spaces, which a backslash makes a part of the word.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool in_word = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') {
      in_word = false;
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    if (!in_word) out.emplace_back();
    in_word = true;
    out.back().push_back(text[i]);
  }
  return out;
}

// "-c name=value" and "--name=value".
Result<std::vector<StartupSetting>, SqlError> read_options(std::string_view text) {
  std::vector<StartupSetting> out;
  const std::vector<std::string> words = words_of(text);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (word == "-c" && i + 1 < words.size()) {
      word = words[++i];
    } else if (word.starts_with("-c") || word.starts_with("--")) {
      word.erase(0, 2);
    } else {
      return SqlError{"42601",
                      "invalid command-line argument for server process: " + word,
                      0,
                      {},
                      "Write -c name=value."};
    }
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return SqlError{"42601", "-c " + word + " requires a value", 0, {}, {}};
    std::string name = word.substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    out.push_back({std::move(name), word.substr(equals + 1), true});
  }
  return out;
}

}  // namespace

Result<Startup, SqlError> read_startup(WireReader& body) {
  Startup out;
  for (std::string_view name = body.string(); body.ok() && !name.empty(); name = body.string()) {
    const std::string_view value = body.string();
    if (name == "user") {
      out.request.user = value;
    } else if (name == "database") {
      out.request.database = value;
    } else if (name == "application_name") {
      out.request.application = value;
    } else if (name == "options") {
      auto options = read_options(value);
      if (!options.ok()) return options.error();
      for (StartupSetting& option : *options) out.request.settings.push_back(std::move(option));
    } else if (name.starts_with("_pq_.")) {
      out.unknown_options.emplace_back(name);
    } else if (name == "client_encoding" && !is_utf8_name(value)) {
      return SqlError{"22023", "client_encoding must be UTF8", 0, {}, "Set client_encoding to UTF8."};
    } else {
      out.request.settings.push_back({std::string(name), std::string(value)});
    }
  }
  if (!body.ok() || !body.done())
    return SqlError{"08P01", "invalid startup packet layout: expected terminator as last byte", 0, {}, {}};
  if (out.request.user.empty()) return SqlError{"28000", "no user name in the startup packet", 0, {}, {}};
  return out;
}

}  // namespace tidemark::sql
