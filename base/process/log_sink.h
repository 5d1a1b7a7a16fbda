// Where the log lines of a process go.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"

namespace tidemark {

struct LogSettings {
  std::string level = "info";  // debug, info, warning or error
  std::string file;            // Appended to; empty: stderr.
};

// "info" -> LogLevel::Info. Refused with the names that there are.
Result<LogLevel> parse_log_level(std::string_view name);

// Lines of the form `<UTC time> <level> <component>: <message> <fields>`, each written whole and at once.
// Thread-safe. Refused: an unknown level, a file that can't be opened.
Result<std::unique_ptr<LogSink>> open_log_sink(const LogSettings& settings);

}  // namespace tidemark
