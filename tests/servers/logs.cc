#include "tests/servers/logs.h"

#include <cstdio>
#include <deque>
#include <fstream>
#include <system_error>

namespace tidemark::servers {
namespace {

constexpr size_t kTailLines = 40;

// Not what people read: a segment of Kafka's, a log of RocksDB's.
bool is_data(const std::filesystem::path& log) {
  return log.stem().string().find_first_not_of("0123456789") == std::string::npos;
}

void print_tail(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::deque<std::string> tail;
  for (std::string line; std::getline(file, line);) {
    tail.push_back(line);
    if (tail.size() > kTailLines) tail.pop_front();
  }
  for (const std::string& line : tail) std::fprintf(stderr, "  | %s\n", line.c_str());
}

}  // namespace

void keep_logs(const std::filesystem::path& directory, const std::filesystem::path& kept,
               const std::string& name) {
  std::error_code error;
  const std::filesystem::path target = kept / name;
  std::filesystem::create_directories(target, error);
  for (std::filesystem::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".log" || is_data(it->path())) continue;
    const std::filesystem::path copy = target / it->path().filename();
    std::error_code copy_error;
    std::filesystem::copy_file(it->path(), copy, std::filesystem::copy_options::overwrite_existing,
                               copy_error);
    std::fprintf(stderr, "--- the end of %s (%s)\n", it->path().filename().c_str(),
                 copy_error ? copy_error.message().c_str() : copy.c_str());
    print_tail(it->path());
  }
}

}  // namespace tidemark::servers
