#include "base/process/log_sink.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <vector>

#include "base/nearest.h"

namespace tidemark {
namespace {

constexpr std::array kLevels{LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
  }
  TM_UNREACHABLE();
}

class SpdlogSink : public LogSink {
 public:
  SpdlogSink(std::shared_ptr<spdlog::sinks::sink> sink, LogLevel level)
      : logger_("tidemark", std::move(sink)), level_(level) {
    logger_.set_level(spdlog_level(level));
    logger_.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
    logger_.flush_on(spdlog::level::trace);
  }

  bool wants(LogLevel level) const override { return level >= level_; }

  void write(LogLevel level, std::string_view component, std::string_view text) override {
    logger_.log(spdlog_level(level), "{}: {}", component, text);
  }

 private:
  spdlog::logger logger_;
  LogLevel level_;
};

}  // namespace

Result<LogLevel> parse_log_level(std::string_view name) {
  std::vector<std::string> known;
  for (const LogLevel level : kLevels) {
    if (name == name_of(level)) return level;
    known.emplace_back(name_of(level));
  }
  return Error{"'" + std::string(name) + "' is no log level: debug, info, warning, error" +
               did_you_mean(name, known)};
}

Result<std::unique_ptr<LogSink>> open_log_sink(const LogSettings& settings) {
  const auto level = parse_log_level(settings.level);
  if (!level) return level.error();
  try {
    std::shared_ptr<spdlog::sinks::sink> sink;
    if (settings.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.file);
    }
    return std::unique_ptr<LogSink>(std::make_unique<SpdlogSink>(std::move(sink), *level));
  } catch (const spdlog::spdlog_ex& error) {
    return Error{std::string("log: ") + error.what()};
  }
}

}  // namespace tidemark
