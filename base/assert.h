// Assertions, on in every build. For what only our own bug can cause: input from a peer, a disk or a user
// is refused with a Result, never asserted.
#pragma once

#include <sstream>
#include <string>

namespace tidemark::detail {

[[noreturn]] void assertion_failed(const char* condition, const std::string& values, const char* file,
                                   int line);

template <typename... Values>
std::string describe_values(const Values&... values) {
  std::ostringstream out;
  ((out << ' ' << values), ...);
  return out.str();
}

}  // namespace tidemark::detail

// TM_ASSERT(condition) or TM_ASSERT(condition, value, ...): the values are printed if it fails.
#define TM_ASSERT(condition, ...)                                                                        \
  do {                                                                                                   \
    if (!(condition)) [[unlikely]] {                                                                     \
      ::tidemark::detail::assertion_failed(#condition, ::tidemark::detail::describe_values(__VA_ARGS__), \
                                           __FILE__, __LINE__);                                          \
    }                                                                                                    \
  } while (false)

#define TM_UNREACHABLE() ::tidemark::detail::assertion_failed("unreachable", "", __FILE__, __LINE__)
