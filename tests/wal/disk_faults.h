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

// Whether one pwritev() wrote all these bytes of the file, and a sync came after it. Whatever else is read
// from the file may be pages that the kernel takes for clean since a sync of them failed: no sync writes
// those.
bool wrote_durably(const std::filesystem::path& file, uint64_t begin, uint64_t end);

}  // namespace tidemark::disk_faults
