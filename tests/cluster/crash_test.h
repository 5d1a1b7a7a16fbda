// What the crash tests share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/cluster/load.h"

namespace tidemark::crash {

// How often, or with which seed: by an environment variable, so that long runs need no other build.
uint64_t from_environment(const char* name, uint64_t otherwise);

// Until so many more writes are acknowledged: the cluster serves. Throws ServerError at the deadline.
void wait_for_writes(const Load& load, uint64_t more);

// Fails the test with what was found, and prints how much was checked.
void expect_nothing_wrong(Load& load, const std::string& after);

}  // namespace tidemark::crash
