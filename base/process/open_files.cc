#include "base/process/open_files.h"

#include <sys/resource.h>

#include "base/assert.h"

namespace tidemark {

uint64_t raise_open_files_max() {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  TM_ASSERT(known);
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace tidemark
