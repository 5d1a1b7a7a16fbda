#include "coordinator/facts.h"

#include <utility>

#include "base/bytes.h"

namespace tidemark {
namespace {

// An entry is one byte of kind and then either the fact itself or a pointer to its chunks.
constexpr uint8_t kInline = 1;
constexpr uint8_t kChunked = 2;
constexpr size_t kChunkBytes = kEntryBytesMax - 1024;

std::string chunk_path(const std::string& path, uint64_t nonce, size_t index) {
  return path + "/" + std::to_string(nonce) + "-" + std::to_string(index);
}

// Collects the chunks of one pointer, one after another.
struct ChunkRead {
  Coordination& coordination;
  std::string path;
  Fact fact;
  Coordination::Done<Fact> done;

  static void next(std::shared_ptr<ChunkRead> read, size_t index) {
    if (index == read->fact.chunks.size()) return read->done(std::move(read->fact));
    Coordination& coordination = read->coordination;
    std::string path = read->fact.chunks[index];
    coordination.get(path, nullptr, [read = std::move(read), index](Result<Entry, CoordinationError> entry) {
      if (entry.ok()) {
        read->fact.data += entry->data;
        return next(read, index + 1);
      }
      // The fact was replaced meanwhile, and its chunks are gone: read the new one.
      if (entry.error() == CoordinationError::NoNode) {
        return read_fact(read->coordination, read->path, nullptr, read->done);
      }
      read->done(entry.error());
    });
  }
};

Result<Fact, CoordinationError> parse_pointer(const std::string& path, const Entry& entry) {
  Fact fact;
  fact.version = entry.version;
  ByteReader reader(entry.data);
  uint8_t kind = reader.u8();
  if (kind == kInline) {
    fact.data = std::string(reader.left());
    return fact;
  }
  uint64_t nonce = reader.varint();
  uint64_t count = reader.varint();
  if (kind != kChunked || !reader.ok() || count > 100'000) return CoordinationError::Refused;
  for (size_t i = 0; i < count; ++i) fact.chunks.push_back(chunk_path(path, nonce, i));
  return fact;
}

struct FactWrite {
  Coordination& coordination;
  std::string path;
  std::string data;
  std::optional<Fact> old;
  std::vector<CoordinationOp> ops;
  std::vector<std::string> chunks;
  Coordination::Done<Fact> done;

  static void chunk(std::shared_ptr<FactWrite> write, size_t index) {
    if (index == write->chunks.size()) return commit(write);
    std::string part = write->data.substr(index * kChunkBytes, kChunkBytes);
    write->coordination.create(write->chunks[index], part, EntryMode::Persistent,
                               [write, index](Result<std::string, CoordinationError> created) {
                                 if (!created.ok()) return write->done(created.error());
                                 chunk(write, index + 1);
                               });
  }

  static void commit(std::shared_ptr<FactWrite> write) {
    auto ops = std::move(write->ops);
    write->coordination.multi(std::move(ops),
                              [write](Result<std::vector<std::string>, CoordinationError> set) {
                                if (!set.ok()) return write->done(set.error());
                                int32_t version = write->old ? write->old->version + 1 : 0;
                                write->done(Fact{std::move(write->data), version, std::move(write->chunks)});
                              });
  }
};

}  // namespace

void read_fact(Coordination& coordination, const std::string& path, Coordination::Watch watch,
               Coordination::Done<Fact> done) {
  coordination.get(path, std::move(watch),
                   [&coordination, path, done = std::move(done)](Result<Entry, CoordinationError> entry) {
                     if (!entry.ok()) return done(entry.error());
                     Result<Fact, CoordinationError> fact = parse_pointer(path, *entry);
                     if (!fact.ok() || fact->chunks.empty()) return done(std::move(fact));
                     ChunkRead::next(
                         std::make_shared<ChunkRead>(ChunkRead{coordination, path, std::move(*fact), done}),
                         0);
                   });
}

void write_fact(Coordination& coordination, const std::string& path, std::string data,
                const std::optional<Fact>& old, uint64_t nonce, std::vector<CoordinationOp> checks,
                Coordination::Done<Fact> done) {
  auto write = std::make_shared<FactWrite>(
      FactWrite{coordination, path, std::move(data), old, std::move(checks), {}, std::move(done)});
  std::string pointer;
  if (write->data.size() <= kChunkBytes) {
    put_u8(pointer, kInline);
    pointer += write->data;
  } else {
    size_t count = (write->data.size() + kChunkBytes - 1) / kChunkBytes;
    put_u8(pointer, kChunked);
    put_varint(pointer, nonce);
    put_varint(pointer, count);
    for (size_t i = 0; i < count; ++i) write->chunks.push_back(chunk_path(path, nonce, i));
  }
  CoordinationOp set;
  set.kind = old ? CoordinationOp::Kind::Set : CoordinationOp::Kind::Create;
  set.path = path;
  set.data = std::move(pointer);
  if (old) set.version = old->version;
  write->ops.push_back(std::move(set));
  if (old) {
    for (const std::string& chunk : old->chunks) {
      CoordinationOp remove;
      remove.kind = CoordinationOp::Kind::Remove;
      remove.path = chunk;
      write->ops.push_back(std::move(remove));
    }
  }
  // Chunks lie below the pointer, so that a fact must exist before it can grow beyond an entry.
  if (!old && !write->chunks.empty()) return write->done(CoordinationError::Refused);
  FactWrite::chunk(write, 0);
}

// ---- FactWatch ---------------------------------------------------------------------------------------

struct FactWatch::State : std::enable_shared_from_this<FactWatch::State> {
  Coordination& coordination;
  Scheduler& scheduler;
  std::string path;
  OnFact on_fact;
  bool stopped = false;
  bool reading = false;
  bool again = false;  // Something changed while we were reading.
  bool told = false;
  std::optional<int32_t> version;  // Of what was told last.

  State(Coordination& c, Scheduler& s, std::string p, OnFact f)
      : coordination(c), scheduler(s), path(std::move(p)), on_fact(std::move(f)) {}

  Coordination::Watch watch() {
    return [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->read();
    };
  }

  void read() {
    if (stopped) return;
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    read_fact(coordination, path, watch(), [weak = weak_from_this()](Result<Fact, CoordinationError> fact) {
      if (auto self = weak.lock()) self->finish(std::move(fact));
    });
  }

  void finish(Result<Fact, CoordinationError> fact) {
    reading = false;
    if (stopped) return;
    if (fact.ok()) {
      tell(std::move(*fact));
    } else if (fact.error() == CoordinationError::NoNode) {
      tell(std::nullopt);
      wait_for_creation();
    } else {
      return retry();
    }
    if (!stopped && std::exchange(again, false)) read();
  }

  void tell(std::optional<Fact> fact) {
    std::optional<int32_t> now = fact ? std::optional(fact->version) : std::nullopt;
    if (told && now == version) return;
    told = true;
    version = now;
    on_fact(fact);
  }

  void wait_for_creation() {
    coordination.exists(path, watch(), [weak = weak_from_this()](Result<bool, CoordinationError> there) {
      auto self = weak.lock();
      if (!self || self->stopped) return;
      if (!there.ok()) return self->retry();
      if (*there) self->read();
    });
  }

  void retry() {
    again = false;
    scheduler.post_after(kFactRetryDelay, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->read();
    });
  }
};

FactWatch::FactWatch(Coordination& coordination, Scheduler& scheduler, std::string path, OnFact on_fact)
    : state_(std::make_shared<State>(coordination, scheduler, std::move(path), std::move(on_fact))) {
  state_->read();
}

FactWatch::~FactWatch() {
  state_->stopped = true;
}

void FactWatch::look_again() {
  state_->read();
}

// ---- EntriesWatch ------------------------------------------------------------------------------------

struct EntriesWatch::State : std::enable_shared_from_this<EntriesWatch::State> {
  Coordination& coordination;
  Scheduler& scheduler;
  std::string path;
  OnEntries on_entries;
  bool stopped = false;
  bool reading = false;
  bool again = false;

  State(Coordination& c, Scheduler& s, std::string p, OnEntries f)
      : coordination(c), scheduler(s), path(std::move(p)), on_entries(std::move(f)) {}

  Coordination::Watch watch() {
    return [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->read();
    };
  }

  void read() {
    if (stopped) return;
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    coordination.children(
        path, watch(), [weak = weak_from_this()](Result<std::vector<std::string>, CoordinationError> names) {
          auto self = weak.lock();
          if (!self) return;
          if (!names.ok()) return self->retry();
          self->collect(std::make_shared<std::vector<std::string>>(std::move(*names)), 0,
                        std::make_shared<std::vector<Named>>());
        });
  }

  void collect(std::shared_ptr<std::vector<std::string>> names, size_t index,
               std::shared_ptr<std::vector<Named>> found) {
    if (index == names->size()) return finish(*found);
    coordination.get(path + "/" + (*names)[index], watch(),
                     [weak = weak_from_this(), names, index, found](Result<Entry, CoordinationError> entry) {
                       auto self = weak.lock();
                       if (!self) return;
                       if (entry.ok()) {
                         found->push_back({(*names)[index], std::move(*entry)});
                       } else if (entry.error() != CoordinationError::NoNode) {
                         return self->retry();
                       }
                       self->collect(names, index + 1, found);
                     });
  }

  void finish(const std::vector<Named>& found) {
    reading = false;
    if (stopped) return;
    on_entries(found);
    if (!stopped && std::exchange(again, false)) read();
  }

  void retry() {
    reading = again = false;
    if (stopped) return;
    scheduler.post_after(kFactRetryDelay, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->read();
    });
  }
};

EntriesWatch::EntriesWatch(Coordination& coordination, Scheduler& scheduler, std::string path,
                           OnEntries on_entries)
    : state_(std::make_shared<State>(coordination, scheduler, std::move(path), std::move(on_entries))) {
  state_->read();
}

EntriesWatch::~EntriesWatch() {
  state_->stopped = true;
}

void EntriesWatch::look_again() {
  state_->read();
}

}  // namespace tidemark
