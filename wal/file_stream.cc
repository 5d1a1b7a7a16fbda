#include "wal/file_stream.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "wal/stream_name.h"

namespace tidemark {
namespace {

Error at_byte(const File& file, uint64_t position, const std::string& what) {
  return Error{file.path().string() + ", byte " + std::to_string(position) + ": " + what};
}

// A segment of that name exists only with a durable header.
Result<File> create_segment(const std::filesystem::path& directory, StreamId stream, Offset first) {
  const auto path = directory / segment_file_name(first);
  TM_TRY(write_file(path, encode_segment_header(stream, first)));
  return File::open(path, O_RDWR);
}

Result<std::vector<Offset>> list_segments(const std::filesystem::path& directory) {
  std::vector<Offset> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (const auto first = parse_segment_file_name(it->path().filename().string())) found.push_back(*first);
  }
  if (error) return Error{directory.string() + ": can not list: " + error.message()};
  if (found.empty()) return Error{directory.string() + ": there is no segment in it"};
  std::sort(found.begin(), found.end());
  return found;
}

// What no entry tells to be durable may be in the page cache only: after a failed sync the kernel takes such
// pages for clean, and a sync that follows succeeds without writing them. Segments before the last one were
// synced before it began. The caller syncs.
Status write_again(const File& file, std::string& segment, const SegmentScan& scan) {
  const uint64_t durable = std::clamp<uint64_t>(scan.synced, kSegmentHeaderBytes, scan.sound_bytes);
  return file.write_at(durable, {{segment.data() + durable, scan.sound_bytes - durable}});
}

}  // namespace

Status FileStream::create(const std::filesystem::path& directory, StreamId stream) {
  std::error_code error;
  if (std::filesystem::exists(directory, error)) {
    sync_directory(directory.parent_path());  // Who made it may have died before it was durable.
    return {};
  }
  const auto draft = draft_of(directory);
  std::filesystem::remove_all(draft, error);
  if (!std::filesystem::create_directory(draft, error)) {
    return Error{draft.string() + ": can not create: " + error.message()};
  }
  auto segment = create_segment(draft, stream, Offset{0});
  if (!segment.ok()) return segment.error();
  std::filesystem::rename(draft, directory, error);
  if (error) return Error{directory.string() + ": can not create: " + error.message()};
  sync_directory(directory.parent_path());
  return {};
}

Result<std::shared_ptr<FileStream>, LogFailure> FileStream::recover(const std::filesystem::path& directory,
                                                                    StreamId stream,
                                                                    const FileStreamOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    return LogFailure{LogError::Refused, "stream " + stream_name(stream) + " does not exist in " +
                                             directory.parent_path().string()};
  }
  std::shared_ptr<FileStream> made(new FileStream(directory, stream, options));
  if (auto loaded = made->load(); !loaded.ok()) {
    return LogFailure{LogError::Refused, "stream " + stream_name(stream) + ": " + loaded.error().message};
  }
  return made;
}

Status FileStream::load() {
  const auto firsts = list_segments(directory_);
  if (!firsts.ok()) return firsts.error();
  durable_end_ = firsts->front();
  for (const Offset first : *firsts) {
    if (first != durable_end_) {
      return Error{(directory_ / segment_file_name(first)).string() + ": begins at offset " +
                   std::to_string(first.value) + ", but the segment before ends at " +
                   std::to_string(durable_end_.value)};
    }
    TM_TRY(load_segment(first, first == firsts->back()));
  }
  write_next_ = durable_end_;
  active_ = segments_.back();
  write_position_ = active_->bytes;
  if (options_.access != FileAccess::ReadWrite) return {};
  active_->file.sync();
  sync_directory(directory_);
  return {};
}

Status FileStream::load_segment(Offset first, bool is_last) {
  const bool writes = options_.access == FileAccess::ReadWrite;
  auto file = File::open(directory_ / segment_file_name(first), is_last && writes ? O_RDWR : O_RDONLY);
  if (!file.ok()) return file.error();
  const auto size = file->size();
  if (!size.ok()) return size.error();
  auto bytes = file->read_at(0, *size);
  if (!bytes.ok()) return bytes.error();
  if (is_last && options_.access == FileAccess::ReadOnlyDurable) {
    const uint64_t synced = scan_segment(stream_, first, *bytes).synced;
    bytes->resize(std::min(bytes->size(), std::max<size_t>(synced, kSegmentHeaderBytes)));
  }
  SegmentScan scan = scan_segment(stream_, first, *bytes);
  if (scan.tail == SegmentScan::Tail::Damaged || (scan.tail == SegmentScan::Tail::Torn && !is_last)) {
    return at_byte(*file, scan.sound_bytes, "damaged: " + scan.problem);
  }
  if (scan.tail == SegmentScan::Tail::Torn) {
    if (options_.notice) {
      options_.notice(at_byte(*file, scan.sound_bytes, "cut off a torn tail of ").message +
                      std::to_string(*size - scan.sound_bytes) + " bytes");
    }
    if (writes) TM_TRY(file->truncate(scan.sound_bytes));
  }
  if (is_last && writes) TM_TRY(write_again(*file, *bytes, scan));
  durable_end_ = scan.end;
  segments_.push_back(
      std::make_shared<Segment>(Segment{first, std::move(*file), scan.sound_bytes, std::move(scan.index)}));
  return {};
}

// ---- writing ----

Status FileStream::roll() {
  auto file = create_segment(directory_, stream_, write_next_);
  if (!file.ok()) return file.error();
  active_ = std::make_shared<Segment>(Segment{write_next_, std::move(*file), kSegmentHeaderBytes, {}});
  write_position_ = kSegmentHeaderBytes;
  const std::lock_guard lock(mutex_);
  segments_.push_back(active_);
  return {};
}

Status FileStream::write(const std::vector<FileAppend>& group) {
  if (write_position_ >= options_.segment_bytes) TM_TRY(roll());
  const Segment& segment = *active_;
  std::vector<std::string> headers;
  headers.reserve(group.size());
  std::vector<iovec> pieces;
  Offset offset = write_next_;
  for (const FileAppend& append : group) {
    headers.push_back(encode_entry_header(offset, segment.bytes, append.bytes));
    pieces.push_back({headers.back().data(), headers.back().size()});
    pieces.push_back({const_cast<char*>(append.bytes.data()), append.bytes.size()});
    ++offset.value;
  }
  if (auto written = segment.file.write_at(write_position_, std::move(pieces)); !written.ok()) {
    if (auto undone = segment.file.truncate(write_position_); !undone.ok())
      end_process(undone.error().message);
    return written;
  }
  return {};
}

void FileStream::sync_and_publish(std::vector<FileAppend> group) {
  Segment& segment = *active_;
  segment.file.sync();
  const Offset first = write_next_;
  std::vector<std::function<void()>> readers;
  {
    const std::lock_guard lock(mutex_);
    for (const FileAppend& append : group) {
      if (segment.index.empty() || write_position_ - segment.index.back().position >= kIndexStepBytes) {
        segment.index.push_back({write_next_, write_position_});
      }
      write_position_ += kEntryHeaderBytes + append.bytes.size();
      ++write_next_.value;
    }
    segment.bytes = write_position_;
    durable_end_ = write_next_;
    while (!waiting_.empty() && waiting_.begin()->first < durable_end_) {
      readers.push_back(std::move(waiting_.extract(waiting_.begin()).mapped()));
    }
  }
  for (size_t i = 0; i < group.size(); ++i) group[i].done(Offset{first.value + i});
  for (auto& ready : readers) ready();
}

// ---- reading ----

std::shared_ptr<FileStream::Segment> FileStream::segment_of(Offset offset) const {
  auto after = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                [](Offset at, const auto& segment) { return at < segment->first; });
  return after == segments_.begin() ? nullptr : *std::prev(after);
}

Result<std::vector<LogEntry>, LogFailure> FileStream::read(Cursor& cursor, size_t bytes_max) {
  std::shared_ptr<Segment> segment;
  uint64_t end = 0;
  uint64_t position = cursor.position;
  {
    const std::lock_guard lock(mutex_);
    if (removed_) return LogFailure{LogError::Refused, "stream " + stream_name(stream_) + " was removed"};
    TM_ASSERT(cursor.next < durable_end_);
    segment = segment_of(cursor.next);
    if (segment == nullptr) {
      return LogFailure{LogError::Trimmed, "stream " + stream_name(stream_) + " begins at offset " +
                                               std::to_string(segments_.front()->first.value) + ", after " +
                                               std::to_string(cursor.next.value)};
    }
    end = segment->bytes;
    if (position == 0 || cursor.segment_first != segment->first.value) {
      auto after = std::upper_bound(segment->index.begin(), segment->index.end(), cursor.next,
                                    [](Offset at, const auto& point) { return at < point.offset; });
      TM_ASSERT(after != segment->index.begin());
      position = std::prev(after)->position;
    }
  }
  // One entry at least, whatever the sparse index has before it.
  const size_t chunk = kIndexStepBytes + std::max(bytes_max, kEntryHeaderBytes + kLogEntryBytesMax);
  const auto bytes = segment->file.read_at(position, std::min<uint64_t>(chunk, end - position));
  if (!bytes.ok()) return LogFailure{LogError::Unavailable, bytes.error().message};
  std::vector<LogEntry> entries;
  size_t at = 0;
  size_t taken = 0;
  while (at < bytes->size() && taken < bytes_max) {
    const auto entry = decode_entry(std::string_view(*bytes).substr(at));
    if (!entry.has_value()) break;  // Maybe cut by the end of the chunk.
    at += entry->size();
    if (entry->offset < cursor.next) continue;  // The index is sparse.
    if (entry->offset > cursor.next) break;
    entries.push_back({entry->offset, std::string(entry->bytes)});
    taken += entry->bytes.size();
    ++cursor.next.value;
  }
  cursor.segment_first = segment->first.value;
  cursor.position = position + at;
  if (entries.empty()) {
    return LogFailure{LogError::Refused, "stream " + stream_name(stream_) + ": " +
                                             at_byte(segment->file, position + at, "damaged").message};
  }
  return entries;
}

void FileStream::when_readable(Offset from, std::function<void()> ready) {
  {
    const std::lock_guard lock(mutex_);
    if (!removed_ && durable_end_ <= from) {
      waiting_.emplace(from, std::move(ready));
      return;
    }
  }
  ready();
}

Log::Bounds FileStream::bounds() const {
  const std::lock_guard lock(mutex_);
  return {segments_.front()->first, durable_end_};
}

// ---- housekeeping ----

void FileStream::trim(Offset begin) {
  std::vector<std::shared_ptr<Segment>> gone;
  {
    const std::lock_guard lock(mutex_);
    while (segments_.size() > 1 && segments_[1]->first <= begin) {
      gone.push_back(std::move(segments_.front()));
      segments_.pop_front();
    }
  }
  if (gone.empty()) return;
  // The oldest first: whatever a crash, or a disk that refuses, leaves has no hole.
  std::error_code error;
  for (const auto& segment : gone) {
    if (!std::filesystem::remove(segment->file.path(), error) && error) break;
  }
  sync_directory(directory_);
}

void FileStream::set_removed() {
  std::multimap<Offset, std::function<void()>> readers;
  {
    const std::lock_guard lock(mutex_);
    removed_ = true;
    readers.swap(waiting_);
  }
  for (auto& [from, ready] : readers) ready();
}

}  // namespace tidemark
