#include "node/store/row_cache.h"

#include <cstdlib>
#include <cstring>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"

namespace tidemark {

// One allocation: this header, the store key, the row.
struct RowCache::Row {
  Row* chain = nullptr;
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
  // What it takes in all: the allocation, its bucket, its node in the dirty set.
  size_t cost() const { return sizeof(Row) + key_size + row_capacity + 24 + (dirty ? 56 : 0); }
};

namespace {
uint64_t fingerprint_of(std::string_view key) {
  return XXH3_64bits(key.data(), key.size());
}
constexpr size_t kBucketsMin = 1024;
}  // namespace

bool RowCache::ByKey::operator()(const Row* a, const Row* b) const {
  return a->key() < b->key();
}
bool RowCache::ByKey::operator()(const Row* a, std::string_view b) const {
  return a->key() < b;
}
bool RowCache::ByKey::operator()(std::string_view a, const Row* b) const {
  return a < b->key();
}

RowCache::RowCache(ShardCount shards, RowBackend& backend, Options options)
    : shards_(shards), backend_(backend), options_(options), table_(kBucketsMin, nullptr) {}

RowCache::~RowCache() {
  for (Row* row : table_) {
    while (row != nullptr) {
      Row* next = row->chain;
      std::free(row);
      row = next;
    }
  }
}

std::string_view RowCache::encode(TableId table, uint64_t hash, std::string_view key) {
  scratch_key_.clear();
  put_ordered32(scratch_key_, table.value);
  put_ordered64(scratch_key_, hash);
  scratch_key_.append(key);
  return scratch_key_;
}

RowCache::Row* RowCache::find(std::string_view key, uint64_t fingerprint) const {
  Row* row = table_[fingerprint & (table_.size() - 1)];
  while (row != nullptr && (row->fingerprint != fingerprint || row->key() != key)) row = row->chain;
  return row;
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
  Row*& bucket = table_[fingerprint & (table_.size() - 1)];
  made->chain = bucket;
  bucket = made;
  link_clock(made);
  ++figures_.rows;
  figures_.bytes += made->cost();
  if (figures_.rows > table_.size()) grow_table();
  return made;
}

void RowCache::remove(Row* row) {
  set_clean(row);
  unlink_clock(row);
  Row** at = &table_[row->fingerprint & (table_.size() - 1)];
  while (*at != row) at = &(*at)->chain;
  *at = row->chain;
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

void RowCache::grow_table() {
  std::vector<Row*> larger(table_.size() * 2, nullptr);
  for (Row* row : table_) {
    while (row != nullptr) {
      Row* next = row->chain;
      Row*& bucket = larger[row->fingerprint & (larger.size() - 1)];
      row->chain = bucket;
      bucket = row;
      row = next;
    }
  }
  table_ = std::move(larger);
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
  if (found != nullptr && found->row_capacity < bytes.size()) {
    remove(found);
    found = nullptr;
  }
  // Rows that grow once tend to grow again; a little room saves the next allocation.
  if (found == nullptr) found = insert(key, fingerprint, bytes, row ? bytes.size() / 8 : 0);
  found->set_row(bytes);
  found->gone = !row.has_value();
  found->referenced = true;
  set_dirty(found);
  limit_dirty();
  make_room();
}

void RowCache::erase_table(TableId table, ShardRange shards) {
  if (shards.empty()) return;
  ++writes_;
  HashSpan hashes = hash_span(shards, shards_);
  std::vector<Row*> going;
  for (Row* row : table_) {
    for (; row != nullptr; row = row->chain) {
      DecodedStoreKey key = *decode_store_key(row->key());
      if (key.table == table && hashes.contains(key.hash)) going.push_back(row);
    }
  }
  for (Row* row : going) remove(row);
  backend_.erase_range(table, hashes);
}

Result<std::optional<std::string>> RowCache::write_back(std::string_view from, size_t rows_max) {
  std::vector<Row*> rows;
  std::vector<RowBackend::Write> writes;
  auto at = dirty_.lower_bound(from);
  for (; at != dirty_.end() && rows.size() < rows_max; ++at) {
    rows.push_back(*at);
    writes.push_back({(*at)->key(), (*at)->gone ? std::nullopt : std::optional((*at)->row())});
  }
  std::optional<std::string> next;
  if (at != dirty_.end()) next = std::string((*at)->key());
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
  for (auto at = dirty_.begin(); at != dirty_.end();) {
    TableId table = decode_store_key((*at)->key())->table;
    out.insert(table);
    if (table.value == UINT32_MAX) break;
    at = dirty_.lower_bound(std::string_view(encode_store_key(TableId{table.value + 1}, 0, {})));
  }
  return out;
}

void RowCache::limit_dirty() {
  if (figures_.dirty_bytes <= options_.bytes_max / 2) return;
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
      : cache_(cache), table_(table), direction_(direction) {
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
  std::string_view row() const override { return from_dirty_ ? (*dirty_at())->row() : disk_->row(); }

 private:
  using DirtySet = std::set<Row*, ByKey>;

  // Backward iterators of a set point behind their element.
  DirtySet::const_iterator dirty_at() const {
    return direction_ == Direction::Forward ? dirty_ : std::prev(dirty_);
  }
  bool dirty_valid() const {
    const DirtySet& all = cache_.dirty_;
    if (direction_ == Direction::Forward ? dirty_ == all.end() : dirty_ == all.begin()) return false;
    return decode_store_key((*dirty_at())->key())->table == table_;
  }
  void step_dirty() {
    if (direction_ == Direction::Forward) {
      ++dirty_;
    } else {
      --dirty_;
    }
  }

  void seek(const std::string& place) {
    writes_ = cache_.writes_;
    dirty_ = direction_ == Direction::Forward ? cache_.dirty_.lower_bound(std::string_view(place))
                                              : cache_.dirty_.upper_bound(std::string_view(place));
    disk_ = cache_.backend_.seek(table_, place, direction_);
    settle();
  }

  void step(std::string_view last) {
    if (dirty_valid() && (*dirty_at())->key() == last) step_dirty();
    if (disk_->valid() && disk_->key() == last) disk_->next();
  }

  void settle() {
    for (;;) {
      bool dirty = dirty_valid();
      bool disk = disk_->valid();
      if (!dirty && !disk) return place_.clear();
      if (dirty && disk) {
        int order = (*dirty_at())->key().compare(disk_->key());
        if (direction_ == Direction::Backward) order = -order;
        if (order <= 0) disk = false;
        if (order > 0) dirty = false;
      }
      from_dirty_ = dirty;
      if (!dirty || !(*dirty_at())->gone) {
        place_ = std::string(dirty ? (*dirty_at())->key() : disk_->key());
        return;
      }
      std::string gone((*dirty_at())->key());
      step(gone);
    }
  }

  RowCache& cache_;
  TableId table_;
  Direction direction_;
  DirtySet::const_iterator dirty_;
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
