#include "node/store/rocks_store.h"

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <tuple>

#include "base/assert.h"
#include "base/guarded_scheduler.h"
#include "base/mutation.h"
#include "node/store/rocks_backend.h"
#include "wal/file_io.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kOpeningBytes = 256 << 10;
constexpr Micros kRefusedDelay{1'000'000};
constexpr Micros kStalledDelay{10'000};
constexpr std::chrono::seconds kFlushPatience{10};

std::string meta_key(std::string_view name) {
  return encode_store_key(kMetaTable, 0, name);
}
std::string checkpoint_key(RegionId region) {
  std::string name = "checkpoint/";
  put_ordered64(name, region.value);
  return meta_key(name);
}

std::string identity_text(const RocksStoreOptions& options) {
  std::ostringstream out;
  out << "tidemark node store 1\ncluster " << options.cluster << "\nnode " << options.node << "\nshards "
      << options.shards.value << "\n";
  return out.str();
}

// The first thing written into a new directory; compared ever after.
Status check_identity(const RocksStoreOptions& options) {
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (error) return Error{options.directory + " can not be made: " + error.message()};
  fs::path path = fs::path(options.directory) / "IDENTITY_OF_NODE";
  std::string expected = identity_text(options);
  if (!fs::exists(path)) {
    fs::remove(draft_of(path), error);  // Of a start that the power cut short.
    if (!fs::is_empty(options.directory, error)) {
      return Error{options.directory +
                   " is not empty and not a node's: give the node a directory of its own"};
    }
    TM_TRY(write_file(path, expected));
    sync_directory(fs::absolute(options.directory).parent_path());
    return {};
  }
  std::ifstream in(path);
  std::stringstream found;
  found << in.rdbuf();
  if (found.str() != expected) {
    return Error{options.directory + " belongs to another node, cluster or format. It says:\n" + found.str() +
                 "This node is:\n" + expected + "Start it with its own directory."};
  }
  return {};
}

// Into the node's own log: a build of RocksDB with assertions ends at its second line into a file on a full
// disk.
class RocksLog : public rocksdb::Logger {
 public:
  explicit RocksLog(tidemark::Logger log) : rocksdb::Logger(rocksdb::WARN_LEVEL), log_(std::move(log)) {}

  void LogHeader(const char*, va_list) override {}
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 1024> text{};
    const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
    if (length > 0) log_.warning("RocksDB is in trouble", kv("says", text.data()));
  }

 private:
  tidemark::Logger log_;
};

rocksdb::Options database_options(const RocksStoreOptions& options,
                                  const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::Options out;
  out.create_if_missing = true;
  out.paranoid_checks = true;
  // What is written over again soon is not worth it.
  out.compression_per_level.assign(2, rocksdb::kNoCompression);
  out.compression_per_level.resize(static_cast<size_t>(out.num_levels), rocksdb::kLZ4Compression);
  out.write_buffer_size = options.write_buffer_bytes / 3;
  out.max_write_buffer_number = 3;
  out.max_background_jobs = 2;
  out.max_open_files = 512;
  // Most rows that are looked for on disk are new ones, which it does not have.
  out.memtable_whole_key_filtering = true;
  out.memtable_prefix_bloom_size_ratio = 0.05;
  out.info_log = std::make_shared<RocksLog>(options.log);
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // In parts: a filter of a whole file may be larger than a shard of the cache, and is then read each time.
  table.partition_filters = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return out;
}

Error damaged(const RocksStoreOptions& options, const std::string& why) {
  return Error{"the checkpoint in " + options.directory + " can not be used: " + why +
               "\nMove the directory away and start again: the node is rebuilt from the log, or from another "
               "replica."};
}

// Only damage is a reason to part with a directory: the log before its checkpoints may be gone.
Error not_opened(const RocksStoreOptions& options, const rocksdb::Status& status) {
  const std::string why = status.ToString();
  if (status.IsCorruption() || status.IsPathNotFound()) return damaged(options, why);
  const bool locked = why.find("While lock file") != std::string::npos ||
                      why.find("lock hold by current process") != std::string::npos;
  if (locked) return Error{options.directory + " is in use by another process: " + why};
  return Error{
      "the checkpoint in " + options.directory + " can not be opened: " + why + "\n" +
      (status.IsNoSpace() ? "The disk is full: make room" : "See to the disk and to the rights on it") +
      " and start again. Leave the directory where it is: nothing says that it is damaged."};
}

// Up to which write RocksDB has flushed. What Flush() says is not enough: after a disk was full it may say
// that all is well before it has begun.
class FlushWatch : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& flushed) override {
    set_durable(flushed.largest_seqno);
  }
  void set_durable(rocksdb::SequenceNumber number) {
    {
      const std::lock_guard lock(mutex_);
      durable_ = std::max(durable_, number);
    }
    changed_.notify_all();
  }
  rocksdb::Status wait_for(rocksdb::SequenceNumber number) {
    std::unique_lock lock(mutex_);
    const bool flushed = changed_.wait_for(lock, kFlushPatience, [&] { return durable_ >= number; });
    return flushed ? rocksdb::Status::OK() : rocksdb::Status::TimedOut("RocksDB did not flush");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  rocksdb::SequenceNumber durable_ = 0;
};

rocksdb::Status open_database(const RocksStoreOptions& options, const std::shared_ptr<rocksdb::Cache>& cache,
                              const std::shared_ptr<FlushWatch>& watch,
                              std::unique_ptr<rocksdb::DB>& database) {
  // It writes to open, and some builds of it end by an assertion where there is no room for that.
  std::error_code error;
  const fs::space_info space = fs::space(options.directory, error);
  if (!error && space.available < kOpeningBytes) return rocksdb::Status::NoSpace("No space left on device");
  const fs::path rows = fs::path(options.directory) / "rows";
  fs::create_directory(rows, error);  // RocksDB would make it too, but calls its absence an error.
  rocksdb::Options how = database_options(options, cache);
  how.listeners.push_back(watch);
  rocksdb::DB* raw = nullptr;
  rocksdb::Status opened = rocksdb::DB::Open(how, rows.string(), &raw);
  database.reset(raw);
  if (opened.ok()) watch->set_durable(database->GetLatestSequenceNumber());
  return opened;
}

}  // namespace

class RocksStore::Impl {
 public:
  Impl(RocksStoreOptions options, Scheduler& scheduler, std::unique_ptr<RocksBackend> backend,
       std::shared_ptr<FlushWatch> watch)
      : options_(std::move(options)),
        scheduler_(scheduler),
        guarded_(scheduler),
        watch_(std::move(watch)),
        backend_(std::move(backend)),
        cache_(options_.shards, *backend_, {.bytes_max = options_.row_cache_bytes, .write_back_rows = 64}) {
    backend_->set_on_refused([this] { try_again(); });
  }

  ~Impl() {
    if (aside_.joinable()) aside_.join();
  }

  Status load() {
    std::string bytes;
    if (backend_->get(meta_key("first_map"), bytes)) {
      ByteReader reader(bytes);
      first_map_ = MapVersion{reader.varint()};
      if (!reader.ok()) return damaged(options_, "its first region map is malformed");
    }
    std::string prefix = meta_key("checkpoint/");
    auto cursor = backend_->seek(kMetaTable, prefix, Direction::Forward);
    for (; cursor->valid() && cursor->key().substr(0, prefix.size()) == prefix; cursor->next()) {
      Result<Checkpoint> checkpoint = decode_checkpoint(cursor->row());
      if (!checkpoint.ok()) return damaged(options_, checkpoint.error().message);
      loaded_.push_back(std::move(*checkpoint));
    }
    return {};
  }

  void set_first_map(MapVersion version) {
    std::string bytes;
    put_varint(bytes, version.value);
    const std::string key = meta_key("first_map");
    Status written = backend_->write({{key, bytes}});
    if (!written.ok()) return options_.on_unreadable(written.error().message);
    rocksdb::Status flushed = database().Flush(rocksdb::FlushOptions());
    if (!flushed.ok()) return options_.on_unreadable("the disk can not be written: " + flushed.ToString());
    first_map_ = version;
  }

  // First a pass over all that is dirty, slice by slice; then the checkpoints; then all of it to disk.
  void save(std::vector<Checkpoint> checkpoints, Done done) {
    TM_ASSERT(!done_);
    done_ = std::move(done);
    saving_ = std::move(checkpoints);
    if (TM_MUTATION("position saved before the rows") && write_checkpoints().ok())
      database().Flush(rocksdb::FlushOptions()).PermitUncheckedError();
    save_slice("");
  }

  void save_slice(const std::string& from) {
    Result<std::optional<std::string>> next = cache_.write_back(from, options_.write_back_rows);
    if (next.ok() && next->has_value()) {
      return guarded_.post([this, at = **next] { save_slice(at); });
    }
    Status written = next.ok() ? write_checkpoints() : next.error();
    if (written.ok()) return flush();
    if (!backend_->stalled()) return fail(written.error());
    guarded_.post_after(kStalledDelay, [this, from] { save_slice(from); });
  }

  Status write_checkpoints() {
    std::map<std::string, std::string> encoded;
    for (const Checkpoint& checkpoint : saving_) {
      encoded.emplace(checkpoint_key(checkpoint.region), encode_checkpoint(checkpoint));
    }
    std::vector<RowBackend::Write> writes;
    for (const auto& [key, row] : encoded) writes.push_back({key, row});
    return backend_->write(writes);
  }

  void flush() {
    auto done = [this](const rocksdb::Status& flushed) {
      if (flushed.IsCorruption()) options_.on_unreadable("the rows can not be read: " + flushed.ToString());
      if (!flushed.ok()) return fail(Error{"checkpoints can not be synced: " + flushed.ToString()});
      finish({});
    };
    auto flush_all = [watch = watch_, last = database().GetLatestSequenceNumber()](rocksdb::DB& database) {
      rocksdb::Status flushed = database.Flush(rocksdb::FlushOptions());
      return flushed.ok() ? watch->wait_for(last) : flushed;
    };
    run_aside(flush_all, done);
  }

  // After an error such as a full disk RocksDB refuses writes until told to go on; it may take a while.
  void fail(Error error) {
    run_aside([](rocksdb::DB& database) { return database.Resume(); },
              [this, error = std::move(error)](const rocksdb::Status&) { finish(error); });
  }

  // On a thread of its own, since it waits for the disk; `done` on the loop.
  void run_aside(std::function<rocksdb::Status(rocksdb::DB&)> work,
                 std::function<void(const rocksdb::Status&)> done) {
    if (aside_.joinable()) aside_.join();
    aside_ = std::thread([database = &database(), &scheduler = scheduler_, work = std::move(work),
                          done = std::move(done), alive = guarded_.token()] {
      scheduler.post([done, alive, status = work(*database)] {
        if (!alive.expired()) done(status);
      });
    });
  }

  void finish(Status status) {
    saving_.clear();
    backend_->drop_idle();
    Done done = std::exchange(done_, nullptr);
    done(std::move(status));
  }

  void forget(RegionId region) {
    std::erase_if(saving_, [&](const Checkpoint& it) { return it.region == region; });
    backend_->erase_key(checkpoint_key(region));
  }

  void erase_shards(ShardRange shards) {
    std::set<TableId> found = cache_.dirty_tables();
    for (auto table = backend_->next_table(TableId{0}); table;
         table = backend_->next_table(TableId{table->value + 1})) {
      found.insert(*table);
    }
    const std::vector<TableId> tables(found.begin(), found.end());
    cache_.erase_tables(tables, shards);
  }

  // The disk has refused a write. Whoever saves tries again; for what was erased, and for rows that the cache
  // has too many of, nobody else does.
  void try_again() {
    if (std::exchange(trying_again_, true)) return;
    guarded_.post_after(backend_->stalled() ? kStalledDelay : kRefusedDelay, [this] {
      trying_again_ = false;
      std::ignore = cache_.write_back("", options_.write_back_rows);
      if (backend_->owes_erasures()) std::ignore = backend_->write({});
    });
  }

  rocksdb::DB& database() { return backend_->database(); }

  RocksStoreOptions options_;
  Scheduler& scheduler_;
  GuardedScheduler guarded_;
  std::shared_ptr<FlushWatch> watch_;
  std::unique_ptr<RocksBackend> backend_;
  RowCache cache_;
  std::vector<Checkpoint> loaded_;
  std::optional<MapVersion> first_map_;
  std::vector<Checkpoint> saving_;
  Done done_;
  std::thread aside_;
  bool trying_again_ = false;
};

RocksStore::RocksStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RocksStore::~RocksStore() = default;

Result<std::unique_ptr<RocksStore>> RocksStore::open(RocksStoreOptions options, Scheduler& scheduler) {
  TM_ASSERT(options.on_unreadable != nullptr);
  TM_TRY(check_identity(options));
  constexpr int kCacheShardBits = 1;  // One loop reads; only compaction competes with it.
  std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(options.block_cache_bytes, kCacheShardBits);
  auto watch = std::make_shared<FlushWatch>();
  std::unique_ptr<rocksdb::DB> database;
  rocksdb::Status opened = open_database(options, cache, watch, database);
  if (!opened.ok()) return not_opened(options, opened);
  auto backend = std::make_unique<RocksBackend>(std::move(database), cache, options.on_unreadable);
  auto impl = std::make_unique<Impl>(std::move(options), scheduler, std::move(backend), std::move(watch));
  TM_TRY(impl->load());
  return std::unique_ptr<RocksStore>(new RocksStore(std::move(impl)));
}

RowStore& RocksStore::rows() {
  return impl_->cache_;
}
const std::vector<Checkpoint>& RocksStore::loaded() const {
  return impl_->loaded_;
}
std::optional<MapVersion> RocksStore::first_map() const {
  return impl_->first_map_;
}
void RocksStore::set_first_map(MapVersion version) {
  impl_->set_first_map(version);
}
void RocksStore::save(std::vector<Checkpoint> checkpoints, Done done) {
  impl_->save(std::move(checkpoints), std::move(done));
}
void RocksStore::forget(RegionId region) {
  impl_->forget(region);
}
void RocksStore::erase_shards(ShardRange shards) {
  impl_->erase_shards(shards);
}
const RowCache::Figures& RocksStore::figures() const {
  return impl_->cache_.figures();
}
size_t RocksStore::database_memory_bytes() const {
  return impl_->backend_->memory_bytes();
}

}  // namespace tidemark
