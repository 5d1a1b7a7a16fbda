#include "node/store/rocks_backend.h"

#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

namespace tidemark {
namespace {

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}
std::string_view view(const rocksdb::Slice& bytes) {
  return {bytes.data(), bytes.size()};
}

// After every key of the table.
std::string table_end(TableId table) {
  std::string out;
  if (table.value == UINT32_MAX) return std::string(64, '\xff');
  put_ordered32(out, table.value + 1);
  return out;
}

}  // namespace

// Bounded to one table, so that what was erased in the next one costs nothing.
class RocksBackend::RocksCursor : public RowBackend::Cursor {
 public:
  RocksCursor(RocksBackend& backend, TableId table, std::string_view key, Direction direction)
      : backend_(backend),
        direction_(direction),
        begin_(encode_store_key(table, 0, {})),
        end_(table_end(table)),
        begin_slice_(begin_),
        end_slice_(end_) {
    rocksdb::ReadOptions options;
    options.iterate_lower_bound = &begin_slice_;
    options.iterate_upper_bound = &end_slice_;
    iterator_.reset(backend.database_->NewIterator(options));
    if (direction == Direction::Forward) {
      iterator_->Seek(slice(key));
    } else {
      iterator_->SeekForPrev(slice(key));
    }
    check();
  }

  bool valid() const override { return iterator_->Valid(); }
  void next() override {
    if (direction_ == Direction::Forward) {
      iterator_->Next();
    } else {
      iterator_->Prev();
    }
    check();
  }
  std::string_view key() const override { return view(iterator_->key()); }
  std::string_view row() const override { return view(iterator_->value()); }

 private:
  void check() {
    if (!iterator_->Valid() && !iterator_->status().ok()) backend_.unreadable(iterator_->status());
  }

  RocksBackend& backend_;
  Direction direction_;
  std::string begin_;
  std::string end_;
  rocksdb::Slice begin_slice_;
  rocksdb::Slice end_slice_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

RocksBackend::RocksBackend(std::unique_ptr<rocksdb::DB> database, std::shared_ptr<rocksdb::Cache> cache,
                           std::function<void(const std::string&)> on_unreadable)
    : database_(std::move(database)), cache_(std::move(cache)), on_unreadable_(std::move(on_unreadable)) {
  write_options_.disableWAL = true;
}

RocksBackend::~RocksBackend() = default;

void RocksBackend::unreadable(const rocksdb::Status& status) {
  on_unreadable_("the rows can not be read: " + status.ToString());
}

Status RocksBackend::write(const std::vector<Write>& writes) {
  rocksdb::WriteBatch batch;
  for (const Write& write : writes) {
    rocksdb::Status added =
        write.row ? batch.Put(slice(write.key), slice(*write.row)) : batch.Delete(slice(write.key));
    if (!added.ok()) return Error{added.ToString()};
  }
  rocksdb::Status written = database_->Write(write_options_, &batch);
  // Met by a compaction, and no time heals it: without an end, no checkpoint would ever be saved again.
  if (written.IsCorruption()) unreadable(written);
  if (!written.ok()) return Error{"rows can not be written: " + written.ToString()};
  return {};
}

void RocksBackend::erase_range(TableId table, HashSpan hashes) {
  std::string begin = encode_store_key(table, hashes.first, {});
  std::string end =
      hashes.last == UINT64_MAX ? table_end(table) : encode_store_key(table, hashes.last + 1, {});
  rocksdb::Status erased =
      database_->DeleteRange(write_options_, database_->DefaultColumnFamily(), begin, end);
  if (!erased.ok()) unreadable(erased);
}

bool RocksBackend::get(std::string_view key, std::string& row) {
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
