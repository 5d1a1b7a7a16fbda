#include "coordinator/coordination_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"

namespace tidemark {

namespace {

constexpr char kMagic[] = "TMCO";

[[noreturn]] void end_process(const std::string& path, const char* step) {
  std::fprintf(stderr, "tidemark: can't keep %s: %s: %s\n", path.c_str(), step, std::strerror(errno));
  std::_Exit(1);
}

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) end_process(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void sync_directory_of(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  int handle = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0 || ::fsync(handle) != 0) end_process(path, "fsync of the directory");
  ::close(handle);
}

}  // namespace

Result<EntryTree> CoordinationFile::load() const {
  std::ifstream in(path_, std::ios::binary);
  if (!in) {
    if (std::filesystem::exists(path_)) return Error{"can't read " + path_};
    return EntryTree();
  }
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ByteReader reader(bytes);
  bool ours = reader.take_checked(4) == std::string_view(kMagic, 4);
  uint64_t checksum = reader.fixed64();
  std::string_view snapshot = reader.left();
  if (!ours || !reader.ok() || checksum != XXH3_64bits(snapshot.data(), snapshot.size())) {
    return Error{path_ + " is damaged: restore it from a backup of the data directory"};
  }
  Result<EntryTree> tree = EntryTree::restore(snapshot);
  if (!tree.ok()) return Error{path_ + ": " + tree.error().message};
  return tree;
}

void CoordinationFile::save(const std::string& snapshot) const {
  std::string header(kMagic, 4);
  put_fixed64(header, XXH3_64bits(snapshot.data(), snapshot.size()));
  std::string beside = path_ + ".new";
  int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) end_process(beside, "open");
  write_all(file, header, beside);
  write_all(file, snapshot, beside);
  if (::fsync(file) != 0) end_process(beside, "fsync");
  ::close(file);
  if (std::rename(beside.c_str(), path_.c_str()) != 0) end_process(path_, "rename");
  sync_directory_of(path_);
}

}  // namespace tidemark
