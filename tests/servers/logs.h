// What to do with the logs of servers when a test failed.
#pragma once

#include <filesystem>
#include <string>

namespace tidemark::servers {

// Prints the last lines of each *.log below `directory` on stderr and copies the files to `kept/name`.
// A failure to read or copy one is said, and does not stop the others.
void keep_logs(const std::filesystem::path& directory, const std::filesystem::path& kept,
               const std::string& name);

}  // namespace tidemark::servers
