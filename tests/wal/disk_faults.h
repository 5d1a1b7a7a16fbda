// A shared library that stands between a test and the C library's file calls, and makes them fail on demand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>

namespace tidemark::disk_faults {

// While set, pwritev() fails with that error after writing half of what it was given; 0 ends it.
void fail_writes(int error);
// While set, fdatasync() fails with that error.
void fail_syncs(int error);

// While set, fdatasync() waits before it does anything: what was written is not durable.
void hold_syncs(bool hold);
bool holds_a_sync();

// For each file that was ever synced here: how long it was when its last sync began.
std::map<std::filesystem::path, uint64_t> synced_sizes();

}  // namespace tidemark::disk_faults
