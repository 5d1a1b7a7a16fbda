#include "sql/session/settings.h"

#include <algorithm>
#include <charconv>

#include "sql/session/errors.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {

namespace {

enum class Kind : uint8_t { Any, Fixed, Boolean, Choice, Millis, Zone, Encoding };

struct Known {
  const char* name;
  const char* value;
  Kind kind = Kind::Any;
  const char* choices = "";  // Separated by '|'.
  const char* description = "";
};

constexpr Known kKnown[] = {
    {"application_name", ""},
    {"bytea_output", "hex", Kind::Choice, "hex"},
    {"check_function_bodies", "on", Kind::Boolean},
    {"client_encoding", "UTF8", Kind::Encoding, "UTF8|UTF-8|unicode|SQL_ASCII"},
    {"client_min_messages", "notice"},
    {"DateStyle", "ISO, MDY"},
    {"default_table_access_method", "heap"},
    {"default_tablespace", ""},
    {"default_transaction_deferrable", "off", Kind::Boolean},
    {"default_transaction_isolation", "read committed"},
    {"default_transaction_read_only", "off", Kind::Boolean},
    {"enable_hashagg", "on", Kind::Boolean},
    {"extra_float_digits", "1"},
    {"geqo", "on", Kind::Boolean},
    {"idle_in_transaction_session_timeout", "0"},
    {"integer_datetimes", "on", Kind::Fixed},
    {"IntervalStyle", "postgres", Kind::Choice, "postgres"},
    {"is_superuser", "off", Kind::Fixed},
    {"jit", "off", Kind::Boolean},
    {"lc_collate", "C", Kind::Fixed},
    {"lc_ctype", "C", Kind::Fixed},
    {"lc_messages", "C"},
    {"lc_monetary", "C"},
    {"lc_numeric", "C"},
    {"lc_time", "C"},
    {"lock_timeout", "0"},
    {"max_identifier_length", "63", Kind::Fixed},
    {"max_index_keys", "32", Kind::Fixed},
    {"password_encryption", "scram-sha-256"},
    {"row_security", "on", Kind::Boolean},
    {"search_path", "\"$user\", public"},
    {"server_encoding", "UTF8", Kind::Fixed},
    {"server_version", "15.0", Kind::Fixed},
    {"server_version_num", "150000", Kind::Fixed},
    {"session_authorization", ""},
    {"ssl", "off", Kind::Fixed},
    {"standard_conforming_strings", "on", Kind::Choice, "on"},
    {"statement_timeout", "0", Kind::Millis, "", "Ends statements that take longer; 0 never."},
    {"synchronize_seqscans", "on", Kind::Boolean},
    {"synchronous_commit", "on"},
    {"tidemark.backfill", "wait", Kind::Choice, "wait|fail|read",
     "What a read of a view does whose rows are not all there yet."},
    {"tidemark.errors", "report", Kind::Choice, "report|ignore",
     "Whether a read of a view fails when rows of it could not be computed."},
    {"tidemark.wait", "off", Kind::Boolean, "", "Reads of views wait for the session's own writes."},
    {"TimeZone", "UTC", Kind::Zone},
    {"transaction_isolation", "read committed"},
    {"transaction_read_only", "off", Kind::Boolean},
    {"work_mem", "4MB"},
    {"xmlbinary", "base64"},
    {"xmloption", "content"},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

// Names by which SQL itself speaks of settings.
std::string canonical(std::string_view name) {
  std::string out = lower(name);
  if (out == "time zone") return "timezone";
  if (out == "names") return "client_encoding";
  if (out == "transaction isolation level") return "transaction_isolation";
  return out;
}

const Known* find(const std::string& name) {
  for (const Known& known : kKnown) {
    if (lower(known.name) == name) return &known;
  }
  return nullptr;
}

SqlError unknown(const std::string& name) {
  return error(
      sqlstate::kUndefinedObject, "unrecognized configuration parameter \"" + name + "\"",
      name.starts_with("tidemark.") ? "There are tidemark.backfill, tidemark.errors and tidemark.wait." : "");
}

SqlError invalid(const Known& known, const std::string& value, std::string hint = {}) {
  return error(sqlstate::kInvalidParameterValue,
               "invalid value for parameter \"" + std::string(known.name) + "\": \"" + value + "\"",
               std::move(hint));
}

bool is_choice(std::string_view choices, std::string_view value) {
  while (!choices.empty()) {
    const size_t end = std::min(choices.find('|'), choices.size());
    if (lower(choices.substr(0, end)) == lower(value)) return true;
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return false;
}

// As PostgreSQL reads them: any beginning of the words.
Result<std::string, SqlError> read_boolean(const Known& known, const std::string& given) {
  const std::string value = lower(given);
  for (const char* yes : {"on", "true", "t", "yes", "y", "1"}) {
    if (value == yes) return std::string("on");
  }
  for (const char* no : {"off", "false", "f", "no", "n", "0", "of"}) {
    if (value == no) return std::string("off");
  }
  return error(sqlstate::kInvalidParameterValue,
               "parameter \"" + std::string(known.name) + "\" requires a Boolean value");
}

// "5s", "100", "2min": in milliseconds.
Result<std::string, SqlError> read_millis(const Known& known, const std::string& given) {
  int64_t number = 0;
  const char* end = given.data() + given.size();
  auto [rest, failure] = std::from_chars(given.data(), end, number);
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const int64_t scale = unit.empty() || unit == "ms" ? 1
                        : unit == "s"                ? 1000
                        : unit == "min"              ? 60'000
                        : unit == "h"                ? 3'600'000
                                                     : 0;
  if (failure != std::errc() || scale == 0 || number < 0 || number > INT32_MAX / scale) {
    return invalid(known, given, "Valid units for this parameter are \"ms\", \"s\", \"min\" and \"h\".");
  }
  return std::to_string(number * scale);
}

// Only UTC is known, under its names.
bool is_utc(std::string_view zone) {
  return is_choice("UTC|Etc/UTC|GMT|Z|Zulu|0|+00|+00:00|UCT|Etc/GMT|Universal", zone);
}

Result<std::string, SqlError> read_zone(const std::string& given) {
  if (is_utc(given)) return std::string("UTC");
  return error(sqlstate::kFeatureNotSupported, "the time zone \"" + given + "\" is not supported",
               "Sessions run in UTC: convert times in the client.");
}

Result<std::string, SqlError> read_encoding(const Known& known, const std::string& given) {
  if (is_choice(known.choices, given)) return std::string("UTF8");
  return invalid(known, given, "Available values: " + std::string(known.choices) + ".");
}

Result<std::string, SqlError> read_value(const Known& known, const std::string& given) {
  switch (known.kind) {
    case Kind::Zone: return read_zone(given);
    case Kind::Encoding: return read_encoding(known, given);
    case Kind::Any: return given;
    case Kind::Fixed:
      return error("55P02", "parameter \"" + std::string(known.name) + "\" cannot be changed");
    case Kind::Boolean: return read_boolean(known, given);
    case Kind::Choice:
      if (is_choice(known.choices, given)) return lower(given);
      return invalid(known, given, "Available values: " + std::string(known.choices) + ".");
    case Kind::Millis: return read_millis(known, given);
  }
  TM_UNREACHABLE();
}

}  // namespace

Settings::Settings() = default;

void Settings::set_default(const std::string& name, const std::string& value) {
  defaults_[canonical(name)] = value;
}

SqlStatus Settings::set(const ast::Set& statement) {
  const std::string name = canonical(statement.name);
  const Known* known = find(name);
  if (statement.kind == ast::SetKind::ResetAll) {
    reset_all();
    return {};
  }
  if (known == nullptr) return unknown(statement.name);
  if (statement.kind == ast::SetKind::Default) {
    values_.erase(name);
    return {};
  }
  std::string given;
  for (const std::string& value : statement.values) given += (given.empty() ? "" : ", ") + value;
  TM_SQL_ASSIGN(values_[name], read_value(*known, given));
  return {};
}

SqlStatus Settings::set_default(const StartupSetting& given) {
  const std::string name = canonical(given.name);
  const Known* known = find(name);
  if (known == nullptr) return unknown(given.name);
  TM_SQL_ASSIGN(defaults_[name], read_value(*known, given.value));
  return {};
}

std::string_view Settings::shown_name(const std::string& name) {
  const Known* known = find(canonical(name));
  TM_ASSERT(known != nullptr);
  return known->name;
}

void Settings::reset_all() {
  values_.clear();
}

Result<std::string, SqlError> Settings::show(const std::string& name) const {
  const std::string wanted = canonical(name);
  const Known* known = find(wanted);
  if (known == nullptr) return unknown(name);
  if (auto found = values_.find(wanted); found != values_.end()) return found->second;
  if (auto found = defaults_.find(wanted); found != defaults_.end()) return found->second;
  return std::string(known->value);
}

std::vector<Settings::Shown> Settings::show_all() const {
  std::vector<Shown> out;
  for (const Known& known : kKnown) out.push_back({known.name, *show(known.name), known.description});
  return out;
}

OnBackfill Settings::on_backfill() const {
  const std::string value = *show("tidemark.backfill");
  return value == "fail" ? OnBackfill::Fail : value == "read" ? OnBackfill::Read : OnBackfill::Wait;
}

bool Settings::waits_for_own_writes() const {
  return *show("tidemark.wait") == "on";
}

bool Settings::ignores_errors() const {
  return *show("tidemark.errors") == "ignore";
}

int64_t Settings::statement_timeout_millis() const {
  const std::string value = *show("statement_timeout");
  int64_t out = 0;
  std::from_chars(value.data(), value.data() + value.size(), out);
  return out;
}

}  // namespace tidemark::sql
