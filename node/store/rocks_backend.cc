#include "node/store/rocks_backend.h"

#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <tuple>

namespace tidemark {
namespace {

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}
std::string_view view(const rocksdb::Slice& bytes) {
  return {bytes.data(), bytes.size()};
}

constexpr size_t kIdleIteratorsMax = 8;

// After every key of the table.
std::string table_end(TableId table) {
  std::string out;
  if (table.value == UINT32_MAX) return std::string(64, '\xff');
  put_ordered32(out, table.value + 1);
  return out;
}

}  // namespace

// Bounded to one table, so that what was erased in the next one costs nothing.
struct RocksBackend::TableIterator {
  TableIterator(rocksdb::DB& database, TableId of, uint64_t as_of)
      : table(of),
        writes(as_of),
        begin(encode_store_key(of, 0, {})),
        end(table_end(of)),
        begin_slice(begin),
        end_slice(end) {
    rocksdb::ReadOptions options;
    options.iterate_lower_bound = &begin_slice;
    options.iterate_upper_bound = &end_slice;
    iterator.reset(database.NewIterator(options));
  }

  const TableId table;
  const uint64_t writes;  // It sees what was written by then.
  const std::string begin;
  const std::string end;
  const rocksdb::Slice begin_slice;
  const rocksdb::Slice end_slice;
  std::unique_ptr<rocksdb::Iterator> iterator;
};

std::unique_ptr<RocksBackend::TableIterator> RocksBackend::take_iterator(TableId table) {
  for (auto& idle : idle_) {
    if (idle->table != table) continue;
    std::unique_ptr<TableIterator> out = std::move(idle);
    idle = std::move(idle_.back());
    idle_.pop_back();
    return out;
  }
  return std::make_unique<TableIterator>(*database_, table, writes_);
}

void RocksBackend::drop_idle() {
  idle_.clear();
}

void RocksBackend::keep_iterator(std::unique_ptr<TableIterator> iterator) {
  if (iterator->writes == writes_ && idle_.size() < kIdleIteratorsMax) idle_.push_back(std::move(iterator));
}

class RocksBackend::RocksCursor : public RowBackend::Cursor {
 public:
  RocksCursor(RocksBackend& backend, TableId table, std::string_view key, Direction direction)
      : backend_(backend), direction_(direction), of_table_(backend.take_iterator(table)) {
    if (direction == Direction::Forward) {
      iterator().Seek(slice(key));
    } else {
      iterator().SeekForPrev(slice(key));
    }
    settle();
  }
  ~RocksCursor() override { backend_.keep_iterator(std::move(of_table_)); }

  bool valid() const override { return iterator().Valid(); }
  void next() override {
    if (direction_ == Direction::Forward) {
      iterator().Next();
    } else {
      iterator().Prev();
    }
    settle();
  }
  std::string_view key() const override { return view(iterator().key()); }
  std::string_view row() const override { return view(iterator().value()); }

 private:
  rocksdb::Iterator& iterator() const { return *of_table_->iterator; }
  // Past what is there only because the disk has not erased it yet.
  void settle() {
    while (iterator().Valid()) {
      const KeyRange* gone = backend_.unerased(key());
      if (gone == nullptr) return;
      if (direction_ == Direction::Forward) {
        iterator().Seek(gone->end);
      } else {
        iterator().Seek(gone->begin);
        iterator().Prev();
      }
    }
    if (!iterator().status().ok()) backend_.unreadable(iterator().status());
  }

  RocksBackend& backend_;
  Direction direction_;
  std::unique_ptr<TableIterator> of_table_;
};

RocksBackend::RocksBackend(std::unique_ptr<rocksdb::DB> database, std::shared_ptr<rocksdb::Cache> cache,
                           std::function<void(const std::string&)> on_unreadable)
    : database_(std::move(database)), cache_(std::move(cache)), on_unreadable_(std::move(on_unreadable)) {
  write_options_.disableWAL = true;
  write_options_.no_slowdown = true;
}

RocksBackend::~RocksBackend() = default;

void RocksBackend::unreadable(const rocksdb::Status& status) {
  on_unreadable_("the rows can not be read: " + status.ToString());
}

Status RocksBackend::write(const std::vector<Write>& writes) {
  ++writes_;
  drop_idle();
  rocksdb::WriteBatch batch;
  for (const KeyRange& range : unerased_) {
    rocksdb::Status added = batch.DeleteRange(range.begin, range.end);
    if (!added.ok()) return Error{added.ToString()};
  }
  for (const Write& write : writes) {
    rocksdb::Status added =
        write.row ? batch.Put(slice(write.key), slice(*write.row)) : batch.Delete(slice(write.key));
    if (!added.ok()) return Error{added.ToString()};
  }
  rocksdb::Status written = database_->Write(write_options_, &batch);
  stalled_ = written.IsIncomplete();
  // Met by a compaction, and no time heals it: without an end, no checkpoint would ever be saved again.
  if (written.IsCorruption()) unreadable(written);
  if (!written.ok()) {
    on_refused_();
    return Error{"rows can not be written: " + written.ToString()};
  }
  unerased_.clear();
  return {};
}

void RocksBackend::erase_range(TableId table, HashSpan hashes) {
  erase_keys({encode_store_key(table, hashes.first, {}),
              hashes.last == UINT64_MAX ? table_end(table) : encode_store_key(table, hashes.last + 1, {})});
}

void RocksBackend::erase_key(const std::string& key) {
  erase_keys({key, key + '\0'});
}

void RocksBackend::erase_keys(KeyRange range) {
  const bool known = std::any_of(unerased_.begin(), unerased_.end(), [&](const KeyRange& it) {
    return it.begin <= range.begin && range.end <= it.end;
  });
  if (!known) unerased_.push_back(std::move(range));
  std::ignore = write({});  // A refusal is not the end: they stay in unerased_.
}

const RocksBackend::KeyRange* RocksBackend::unerased(std::string_view key) const {
  const auto found = std::find_if(unerased_.begin(), unerased_.end(),
                                  [&](const KeyRange& range) { return range.contains(key); });
  return found == unerased_.end() ? nullptr : &*found;
}

bool RocksBackend::get(std::string_view key, std::string& row) {
  if (unerased(key) != nullptr) return false;
  rocksdb::PinnableSlice found;
  rocksdb::Status status =
      database_->Get(rocksdb::ReadOptions(), database_->DefaultColumnFamily(), slice(key), &found);
  if (status.IsNotFound()) return false;
  if (!status.ok()) {
    unreadable(status);
    return false;
  }
  row.assign(found.data(), found.size());
  return true;
}

std::unique_ptr<RowBackend::Cursor> RocksBackend::seek(TableId table, std::string_view key,
                                                       Direction direction) {
  return std::make_unique<RocksCursor>(*this, table, key, direction);
}

std::optional<TableId> RocksBackend::next_table(TableId table) {
  std::unique_ptr<rocksdb::Iterator> iterator(database_->NewIterator(rocksdb::ReadOptions()));
  iterator->Seek(encode_store_key(table, 0, {}));
  if (!iterator->Valid()) {
    if (!iterator->status().ok()) unreadable(iterator->status());
    return std::nullopt;
  }
  auto key = decode_store_key(view(iterator->key()));
  if (!key || key->table == kMetaTable) return std::nullopt;
  return key->table;
}

size_t RocksBackend::memory_bytes() const {
  size_t total = cache_->GetUsage();
  for (const char* property : {"rocksdb.cur-size-all-mem-tables", "rocksdb.estimate-table-readers-mem"}) {
    uint64_t value = 0;
    if (database_->GetIntProperty(property, &value)) total += value;
  }
  return total;
}

}  // namespace tidemark
