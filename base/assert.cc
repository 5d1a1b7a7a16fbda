#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace tidemark::detail {

void assertion_failed(const char* condition, const std::string& values, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s%s%s\n", file, line, condition,
               values.empty() ? "" : "; values:", values.c_str());
  std::abort();
}

}  // namespace tidemark::detail
