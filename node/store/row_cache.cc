#include "node/store/row_cache.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"

namespace tidemark {

namespace {
constexpr size_t kRowShare = 48;  // Of the slots, and of what an allocation takes beside its bytes.
}

// One allocation: this header, the store key, the row.
struct RowCache::Row {
  Row* clock_next = nullptr;
  Row* clock_previous = nullptr;
  uint64_t fingerprint = 0;
  uint32_t key_size = 0;
  uint32_t row_size = 0;
  uint32_t row_capacity = 0;
  bool dirty = false;
  bool gone = false;  // Erased, and the disk does not know yet. Always dirty.
  bool referenced = false;

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view key() const { return {bytes(), key_size}; }
  std::string_view row() const { return {bytes() + key_size, row_size}; }
  void set_row(std::string_view row) {
    if (!row.empty()) std::memcpy(bytes() + key_size, row.data(), row.size());
    row_size = static_cast<uint32_t>(row.size());
  }
  // What it takes in all: the allocation, its share of the slots, its place among the dirty ones.
  size_t cost() const { return sizeof(Row) + key_size + row_capacity + kRowShare + (dirty ? 32 : 0); }
};

namespace {
uint64_t fingerprint_of(std::string_view key) {
  return XXH3_64bits(key.data(), key.size());
}
constexpr size_t kSlotsMin = 1024;
constexpr size_t kPrefetchMax = 16;
constexpr size_t kCacheLine = 64;
}  // namespace

RowCache::RowCache(ShardCount shards, RowBackend& backend, Options options)
    : shards_(shards), backend_(backend), options_(options), slots_(kSlotsMin) {}

RowCache::~RowCache() {
  for (const Slot& slot : slots_) std::free(slot.row);
}

std::string_view RowCache::encode(TableId table, uint64_t hash, std::string_view key) {
  scratch_key_.clear();
  put_ordered32(scratch_key_, table.value);
  put_ordered64(scratch_key_, hash);
  scratch_key_.append(key);
  return scratch_key_;
}

// First all the slots, then all the rows: each wait for memory is for many at once.
void RowCache::prefetch(std::span<const RowAddress> places) {
  uint64_t fingerprints[kPrefetchMax];
  for (size_t done = 0; done < places.size(); done += kPrefetchMax) {
    const size_t count = std::min(kPrefetchMax, places.size() - done);
    for (size_t i = 0; i < count; ++i) {
      const RowAddress& place = places[done + i];
      fingerprints[i] = fingerprint_of(encode(place.table, place.hash, place.key));
      __builtin_prefetch(&slots_[home_of(fingerprints[i])]);
    }
    for (size_t i = 0; i < count; ++i) {
      size_t at = home_of(fingerprints[i]);
      while (slots_[at].row != nullptr && slots_[at].fingerprint != fingerprints[i]) {
        at = (at + 1) & (slots_.size() - 1);
      }
      if (const Row* row = slots_[at].row) {
        __builtin_prefetch(row, 1);
        __builtin_prefetch(reinterpret_cast<const char*>(row) + kCacheLine, 1);
      }
    }
  }
}

RowCache::Row* RowCache::find(std::string_view key, uint64_t fingerprint) const {
  for (size_t at = home_of(fingerprint); slots_[at].row != nullptr; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].fingerprint == fingerprint && slots_[at].row->key() == key) return slots_[at].row;
  }
  return nullptr;
}

void RowCache::put_in_slot(Row* row) {
  size_t at = home_of(row->fingerprint);
  while (slots_[at].row != nullptr) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {row->fingerprint, row};
}

void RowCache::clear_slot(const Row* row) {
  const size_t mask = slots_.size() - 1;
  size_t hole = home_of(row->fingerprint);
  while (slots_[hole].row != row) hole = (hole + 1) & mask;
  // What lies behind the hole moves up, unless it would come to lie before its own place.
  for (size_t next = (hole + 1) & mask; slots_[next].row != nullptr; next = (next + 1) & mask) {
    const size_t home = home_of(slots_[next].fingerprint);
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    slots_[hole] = slots_[next];
    hole = next;
  }
  slots_[hole] = {};
}

void RowCache::grow_slots() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.row == nullptr) continue;
    size_t at = home_of(slot.fingerprint);
    while (slots_[at].row != nullptr) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

RowCache::Row* RowCache::insert(std::string_view key, uint64_t fingerprint, std::string_view row,
                                size_t spare) {
  size_t capacity = row.size() + spare;
  void* memory = std::malloc(sizeof(Row) + key.size() + capacity);
  TM_ASSERT(memory != nullptr);
  Row* made = new (memory) Row;
  made->fingerprint = fingerprint;
  made->key_size = static_cast<uint32_t>(key.size());
  made->row_capacity = static_cast<uint32_t>(capacity);
  std::memcpy(made->bytes(), key.data(), key.size());
  made->set_row(row);
  if (8 * (figures_.rows + 1) > 5 * slots_.size()) grow_slots();
  put_in_slot(made);
  link_clock(made);
  ++figures_.rows;
  figures_.bytes += made->cost();
  return made;
}

void RowCache::remove(Row* row) {
  set_clean(row);
  unlink_clock(row);
  clear_slot(row);
  --figures_.rows;
  figures_.bytes -= row->cost();
  std::free(row);
}

// Behind the hand: it will be looked at last.
void RowCache::link_clock(Row* row) {
  if (hand_ == nullptr) {
    hand_ = row->clock_next = row->clock_previous = row;
    return;
  }
  row->clock_next = hand_;
  row->clock_previous = hand_->clock_previous;
  row->clock_previous->clock_next = row;
  hand_->clock_previous = row;
}

void RowCache::unlink_clock(Row* row) {
  if (row->clock_next == row) {
    hand_ = nullptr;
    return;
  }
  if (hand_ == row) hand_ = row->clock_next;
  row->clock_previous->clock_next = row->clock_next;
  row->clock_next->clock_previous = row->clock_previous;
}

void RowCache::set_dirty(Row* row) {
  if (row->dirty) return;
  figures_.bytes -= row->cost();
  row->dirty = true;
  figures_.bytes += row->cost();
  figures_.dirty_bytes += row->cost();
  ++figures_.dirty_rows;
  dirty_.insert(row);
}

void RowCache::set_clean(Row* row) {
  if (!row->dirty) return;
  dirty_.erase(row);
  --figures_.dirty_rows;
  figures_.dirty_bytes -= row->cost();
  figures_.bytes -= row->cost();
  row->dirty = false;
  figures_.bytes += row->cost();
}

std::optional<std::string_view> RowCache::get(TableId table, uint64_t hash, std::string_view key) {
  std::string_view encoded = encode(table, hash, key);
  uint64_t fingerprint = fingerprint_of(encoded);
  if (Row* row = find(encoded, fingerprint)) {
    ++figures_.hits;
    row->referenced = true;
    if (row->gone) return std::nullopt;
    return row->row();
  }
  ++figures_.misses;
  if (!backend_.get(encoded, scratch_row_)) return std::nullopt;
  // While the disk takes nothing, room is for what it does not have: nearly all is dirty, and to evict the
  // one row that is not, the hand would go round all the others for each read.
  const size_t cost = sizeof(Row) + kRowShare + encoded.size() + scratch_row_.size();
  if (failing_ && figures_.bytes + cost > options_.bytes_max) return scratch_row_;
  insert(encoded, fingerprint, scratch_row_, 0);
  make_room();
  return scratch_row_;
}

void RowCache::put(TableId table, uint64_t hash, std::string_view key, std::string_view row) {
  assign(encode(table, hash, key), row);
}

void RowCache::erase(TableId table, uint64_t hash, std::string_view key) {
  assign(encode(table, hash, key), std::nullopt);
}

void RowCache::assign(std::string_view key, std::optional<std::string_view> row) {
  ++writes_;
  uint64_t fingerprint = fingerprint_of(key);
  std::string_view bytes = row.value_or(std::string_view{});
  Row* found = find(key, fingerprint);
  size_t spare = 0;
  if (found != nullptr && found->row_capacity < bytes.size()) {
    remove(found);
    found = nullptr;
    spare = bytes.size() / 8;  // Rows that grow once tend to grow again.
  }
  if (found == nullptr) found = insert(key, fingerprint, bytes, spare);
  found->set_row(bytes);
  found->gone = !row.has_value();
  found->referenced = true;
  set_dirty(found);
  limit_dirty();
  make_room();
}

void RowCache::erase_tables(std::span<const TableId> tables, ShardRange shards) {
  if (shards.empty() || tables.empty()) return;
  ++writes_;
  ++figures_.passes;
  const std::set<TableId> among(tables.begin(), tables.end());
  HashSpan hashes = hash_span(shards, shards_);
  std::vector<Row*> going;
  for (const Slot& slot : slots_) {
    if (slot.row == nullptr) continue;
    DecodedStoreKey key = *decode_store_key(slot.row->key());
    if (hashes.contains(key.hash) && among.count(key.table) != 0) going.push_back(slot.row);
  }
  for (Row* row : going) remove(row);
  for (TableId table : among) backend_.erase_range(table, hashes);
}

Result<std::optional<std::string>> RowCache::write_back(std::string_view from, size_t rows_max) {
  std::vector<Row*> rows;
  std::vector<RowBackend::Write> writes;
  auto at = dirty_.at_or_after(from);
  for (; at.valid() && rows.size() < rows_max; at.next()) {
    Row* row = at.item();
    rows.push_back(row);
    writes.push_back({row->key(), row->gone ? std::nullopt : std::optional(row->row())});
  }
  std::optional<std::string> next;
  if (at.valid()) next = std::string(at.item()->key());
  if (rows.empty()) return next;
  Status written = backend_.write(writes);
  if (!written.ok()) {
    failing_ = true;
    last_error_ = written.error().message;
    return written.error();
  }
  failing_ = false;
  ++writes_;  // Cursors must look again: what was dirty is on disk now.
  figures_.written_back += rows.size();
  for (Row* row : rows) {
    if (row->gone) {
      remove(row);
    } else {
      set_clean(row);
    }
  }
  return next;
}

std::set<TableId> RowCache::dirty_tables() const {
  std::set<TableId> out;
  for (auto at = dirty_.at_or_after({}); at.valid();) {
    TableId table = decode_store_key(at.item()->key())->table;
    out.insert(table);
    if (table.value == UINT32_MAX) break;
    at = dirty_.at_or_after(encode_store_key(TableId{table.value + 1}, 0, {}));
  }
  return out;
}

void RowCache::limit_dirty() {
  if (figures_.dirty_bytes <= options_.bytes_max / 4 * 3) return;
  auto next = write_back(write_back_from_, options_.write_back_rows);
  if (next.ok()) write_back_from_ = next->value_or("");
}

void RowCache::make_room() {
  while (figures_.bytes > options_.bytes_max && evict_one()) {
  }
}

bool RowCache::evict_one() {
  if (figures_.rows == figures_.dirty_rows) return false;
  // Twice round: the first takes the marks away. What is dirty stays.
  for (size_t left = 2 * figures_.rows; left > 0; --left) {
    Row* row = hand_;
    hand_ = row->clock_next;
    if (row->dirty) continue;
    if (row->referenced) {
      row->referenced = false;
      continue;
    }
    remove(row);
    ++figures_.evicted;
    return true;
  }
  return false;
}

// ---- cursor ------------------------------------------------------------------------------------------

// Merges what is dirty with what the disk has; the dirty row wins.
class RowCache::Cursor : public RowCursor {
 public:
  Cursor(RowCache& cache, TableId table, std::string_view place, Direction direction)
      : cache_(cache), table_(table), direction_(direction), dirty_(cache.dirty_.at_or_after(place)) {
    seek(std::string(place));
  }

  bool valid() const override { return !place_.empty(); }

  void next() override {
    TM_ASSERT(valid());
    std::string last = place_;
    if (writes_ != cache_.writes_) {
      seek(last);
      if (!valid() || place_ != last) return;
    }
    step(last);
    settle();
  }

  uint64_t hash() const override { return decode_store_key(place_)->hash; }
  std::string_view key() const override { return decode_store_key(place_)->key; }
  std::string_view row() const override { return from_dirty_ ? dirty_.item()->row() : disk_->row(); }

 private:
  using DirtyPlace = OrderedItems<Row>::Place;

  bool dirty_valid() const {
    return dirty_.valid() && decode_store_key(dirty_.item()->key())->table == table_;
  }
  void step_dirty() {
    if (direction_ == Direction::Forward) {
      dirty_.next();
    } else {
      dirty_.previous();
    }
  }

  void seek(const std::string& place) {
    writes_ = cache_.writes_;
    dirty_ = direction_ == Direction::Forward ? cache_.dirty_.at_or_after(place)
                                              : cache_.dirty_.at_or_before(place);
    disk_ = cache_.backend_.seek(table_, place, direction_);
    settle();
  }

  void step(std::string_view last) {
    if (dirty_valid() && dirty_.item()->key() == last) step_dirty();
    if (disk_->valid() && disk_->key() == last) disk_->next();
  }

  void settle() {
    for (;;) {
      bool dirty = dirty_valid();
      bool disk = disk_->valid();
      if (!dirty && !disk) return place_.clear();
      if (dirty && disk) {
        int order = dirty_.item()->key().compare(disk_->key());
        if (direction_ == Direction::Backward) order = -order;
        if (order <= 0) disk = false;
        if (order > 0) dirty = false;
      }
      from_dirty_ = dirty;
      if (!dirty || !dirty_.item()->gone) {
        place_ = std::string(dirty ? dirty_.item()->key() : disk_->key());
        return;
      }
      std::string gone(dirty_.item()->key());
      step(gone);
    }
  }

  RowCache& cache_;
  TableId table_;
  Direction direction_;
  DirtyPlace dirty_;
  std::unique_ptr<RowBackend::Cursor> disk_;
  std::string place_;  // Of the present row; empty: none.
  bool from_dirty_ = false;
  uint64_t writes_ = 0;
};

std::unique_ptr<RowCursor> RowCache::seek(TableId table, uint64_t hash, std::string_view key,
                                          Direction direction) {
  return std::make_unique<Cursor>(*this, table, encode_store_key(table, hash, key), direction);
}

}  // namespace tidemark
