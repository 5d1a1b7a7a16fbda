// Structured logging, as roles see it: a message and fields. Core-safe; where the lines go is the sink's
// affair (base/process/log_sink.h in production, a transcript in tests).
//
//   log.info("opened a region", kv("region", region), kv("fence", fence));
//   -> 2026-05-04T10:11:12.131Z info node: opened a region region=7 fence=1041
//
// A message is constant text that can be searched for; what varies is in fields, named as in docs/design.md,
// "Words".
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark {

enum class LogLevel : uint8_t { Debug, Info, Warning, Error };

std::string_view name_of(LogLevel level);

// May be called from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool wants(LogLevel level) const = 0;
  // `text` is the message and its fields, one line.
  virtual void write(LogLevel level, std::string_view component, std::string_view text) = 0;
};

// A field: lives for the call that it is passed to.
template <typename T>
struct LogField {
  std::string_view key;
  const T& value;
};
template <typename T>
LogField<T> kv(std::string_view key, const T& value) {
  return {key, value};
}

namespace detail {
// Appends " key=value"; the value in quotes if it would not be one word otherwise.
void append_field(std::string& text, std::string_view key, std::string_view value);
}  // namespace detail

// What one component writes to. Cheap to copy; one that is made without a sink writes nothing. Fields are
// formatted only if the line is wanted.
class Logger {
 public:
  Logger() = default;
  // REQUIRES: sink outlives this and all its copies.
  Logger(LogSink& sink, std::string component) : sink_(&sink), component_(std::move(component)) {}

  template <typename... T>
  void debug(std::string_view message, const LogField<T>&... fields) const {
    write(LogLevel::Debug, message, fields...);
  }
  template <typename... T>
  void info(std::string_view message, const LogField<T>&... fields) const {
    write(LogLevel::Info, message, fields...);
  }
  template <typename... T>
  void warning(std::string_view message, const LogField<T>&... fields) const {
    write(LogLevel::Warning, message, fields...);
  }
  template <typename... T>
  void error(std::string_view message, const LogField<T>&... fields) const {
    write(LogLevel::Error, message, fields...);
  }

 private:
  template <typename... T>
  void write(LogLevel level, std::string_view message, const LogField<T>&... fields) const {
    if (sink_ == nullptr || !sink_->wants(level)) return;
    std::string text(message);
    (append(text, fields), ...);
    sink_->write(level, component_, text);
  }

  template <typename T>
  static void append(std::string& text, const LogField<T>& field) {
    std::ostringstream value;
    value << std::boolalpha << field.value;
    detail::append_field(text, field.key, value.str());
  }

  LogSink* sink_ = nullptr;
  std::string component_;
};

}  // namespace tidemark
