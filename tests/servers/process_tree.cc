#include "tests/servers/process_tree.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace tidemark::servers {
namespace {

// The parent of `pid`, or 0 if it has just gone.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // "pid (command) state parent ...": the command may hold blanks and parentheses.
  const size_t end_of_command = line.rfind(')');
  if (end_of_command == std::string::npos || line.size() < end_of_command + 4) return 0;
  return static_cast<pid_t>(std::strtol(line.c_str() + end_of_command + 4, nullptr, 10));
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (pid > 0) children.emplace(parent_of(pid), pid);
  }
  std::vector<pid_t> found{root};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto it = first; it != last; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

}  // namespace tidemark::servers
