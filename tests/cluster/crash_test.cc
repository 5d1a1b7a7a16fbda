#include "tests/cluster/crash_test.h"

#include <cstdio>
#include <cstdlib>

#include "tests/servers/server.h"

namespace tidemark::crash {
namespace {

constexpr size_t kShownFindings = 30;

}  // namespace

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

void wait_for_writes(const Load& load, uint64_t more) {
  const uint64_t enough = load.tally().done + more;
  servers::wait_until("writes are acknowledged", [&] { return load.tally().done >= enough; });
}

void expect_nothing_wrong(Load& load, const std::string& after) {
  const Findings findings = load.verify();
  for (size_t i = 0; i < findings.size() && i < kShownFindings; ++i)
    ADD_FAILURE() << "after " << after << ": " << findings[i];
  if (findings.size() > kShownFindings)
    ADD_FAILURE() << "and " << findings.size() - kShownFindings << " more findings";
  std::printf("%s: %s; %zu findings\n", after.c_str(), load.describe().c_str(), findings.size());
  std::fflush(stdout);
}

}  // namespace tidemark::crash
