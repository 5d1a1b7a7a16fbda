#include "wal/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tidemark {
namespace {

constexpr int kExitIoError = 74;  // EX_IOERR of sysexits.h.
constexpr size_t kPiecesMax = 512;

std::string reason(int error) {
  return std::strerror(error);
}  // NOLINT(concurrency-mt-unsafe): glibc's is.

}  // namespace

void end_process(const std::string& why) {
  std::fprintf(stderr, "tidemark: fatal: %s\n", why.c_str());
  std::fflush(stderr);
  ::_exit(kExitIoError);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Error File::failed(const char* what) const {
  const int error = errno;
  return Error{path_.string() + ": can not " + what + ": " + reason(error)};
}

Result<File> File::open(const std::filesystem::path& path, int flags) {
  File file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (file.descriptor_ < 0) return file.failed((flags & O_CREAT) != 0 ? "create" : "open");
  return file;
}

Result<uint64_t> File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return failed("stat");
  return static_cast<uint64_t>(status.st_size);
}

Result<std::string> File::read_at(uint64_t position, size_t bytes) const {
  std::string read(bytes, '\0');
  size_t have = 0;
  while (have < bytes) {
    const ssize_t got =
        ::pread(descriptor_, read.data() + have, bytes - have, static_cast<off_t>(position + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read");
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  read.resize(have);
  return read;
}

Status File::write_at(uint64_t position, std::vector<iovec> pieces) const {
  size_t first = 0;
  while (first < pieces.size()) {
    const int count = static_cast<int>(std::min(pieces.size() - first, kPiecesMax));
    const ssize_t wrote = ::pwritev(descriptor_, &pieces[first], count, static_cast<off_t>(position));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed("write");
    position += static_cast<uint64_t>(wrote);
    for (auto left = static_cast<size_t>(wrote); first < pieces.size(); ++first) {
      iovec& piece = pieces[first];
      if (left < piece.iov_len) {
        piece.iov_base = static_cast<char*>(piece.iov_base) + left;
        piece.iov_len -= left;
        break;
      }
      left -= piece.iov_len;
    }
  }
  return {};
}

Status File::truncate(uint64_t size) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return failed("truncate");
  return {};
}

void File::sync() const {
  if (::fdatasync(descriptor_) != 0)
    end_process(failed("sync").message + "; the log can not be trusted further");
}

std::filesystem::path draft_of(const std::filesystem::path& path) {
  auto draft = path;
  draft += ".new";
  return draft;
}

Status write_file(const std::filesystem::path& path, std::string bytes) {
  const auto draft = draft_of(path);
  auto file = File::open(draft, O_RDWR | O_CREAT | O_TRUNC);
  if (!file.ok()) return file.error();
  TM_TRY(file->write_at(0, {{bytes.data(), bytes.size()}}));
  file->sync();
  std::error_code error;
  std::filesystem::rename(draft, path, error);
  if (error) return Error{path.string() + ": can not rename to it: " + error.message()};
  sync_directory(path.parent_path());
  return {};
}

void sync_directory(const std::filesystem::path& path) {
  auto directory = File::open(path, O_RDONLY | O_DIRECTORY);
  if (!directory.ok()) end_process(directory.error().message);
  if (::fsync(directory->descriptor()) != 0) {
    end_process(path.string() + ": can not sync the directory: " + reason(errno));
  }
}

}  // namespace tidemark
