#include "coordinator/facts.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"

namespace tidemark {
namespace {

using VoidDone = std::function<void(Result<void, CoordinationError>)>;

// An entry is one byte of kind and then either the fact itself or a pointer to its chunks.
constexpr uint8_t kInline = 1;
constexpr uint8_t kChunked = 2;

std::string chunk_path(const std::string& path, uint64_t nonce, size_t index) {
  return path + "/" + std::to_string(nonce) + "-" + std::to_string(index);
}

CoordinationOp removal_of(const std::string& path) {
  CoordinationOp op;
  op.kind = CoordinationOp::Kind::Remove;
  op.path = path;
  return op;
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

// Chunk after chunk, then everything at once.
class Writing : public std::enable_shared_from_this<Writing> {
 public:
  Writing(Coordination& coordination, std::vector<CoordinationOp> checks, VoidDone done)
      : coordination_(coordination), checks_(std::move(checks)), ops_(checks_), done_(std::move(done)) {}

  void add(FactWrite write, uint64_t nonce) {
    const bool is_inline = write.data.size() <= kFactInlineBytesMax;
    CoordinationOp set;
    set.kind = write.old || !is_inline ? CoordinationOp::Kind::Set : CoordinationOp::Kind::Create;
    set.path = write.path;
    if (is_inline) {
      put_u8(set.data, kInline);
      set.data += write.data;
    } else {
      set.data = cut_into_chunks(write, nonce);
      if (!write.old) write.old = begin_empty(write.path);
    }
    if (write.old) set.version = write.old->version;
    ops_.push_back(std::move(set));
    if (write.old)
      for (const std::string& chunk : write.old->chunks) ops_.push_back(removal_of(chunk));
  }

  void next_chunk() {
    if (chunks_.empty()) return run(std::move(ops_), [this] { done_({}); });
    std::vector<CoordinationOp> ops = checks_;
    ops.push_back(std::move(chunks_.back()));
    chunks_.pop_back();
    run(std::move(ops), [this] { next_chunk(); });
  }

 private:
  // Gives the pointer.
  std::string cut_into_chunks(const FactWrite& write, uint64_t nonce) {
    size_t count = (write.data.size() + kFactChunkBytesMax - 1) / kFactChunkBytesMax;
    for (size_t i = 0; i < count; ++i) {
      CoordinationOp create;
      create.kind = CoordinationOp::Kind::Create;
      create.path = chunk_path(write.path, nonce, i);
      create.data = write.data.substr(i * kFactChunkBytesMax, kFactChunkBytesMax);
      chunks_.push_back(std::move(create));
    }
    std::string pointer;
    put_u8(pointer, kChunked);
    put_varint(pointer, nonce);
    put_varint(pointer, count);
    return pointer;
  }

  // Chunks lie below their pointer: a new one is created before them, as that of an empty fact. Gives that.
  Fact begin_empty(const std::string& path) {
    CoordinationOp create;
    create.kind = CoordinationOp::Kind::Create;
    create.path = path;
    put_u8(create.data, kInline);
    chunks_.push_back(std::move(create));  // The last one is written first.
    return {};
  }

  template <typename Then>
  void run(std::vector<CoordinationOp> ops, Then then) {
    coordination_.multi(std::move(ops), [self = shared_from_this(), then](auto result) {
      if (!result.ok()) return self->done_(result.error());
      then();
    });
  }

  Coordination& coordination_;
  const std::vector<CoordinationOp> checks_;
  std::vector<CoordinationOp> ops_;
  std::vector<CoordinationOp> chunks_;
  const VoidDone done_;
};

struct Sweeping {
  Coordination& coordination;
  std::string path;
  std::vector<CoordinationOp> checks;
  VoidDone done;
  std::vector<std::string> found;

  static void list(std::shared_ptr<Sweeping> sweep) {
    sweep->coordination.children(sweep->path, nullptr, [sweep](auto names) {
      if (!names.ok()) return sweep->done(names.error());
      if (names->empty()) return sweep->done({});
      for (const std::string& name : *names) sweep->found.push_back(sweep->path + "/" + name);
      read_fact(sweep->coordination, sweep->path, nullptr, [sweep](auto fact) {
        if (!fact.ok()) return sweep->done(fact.error());
        // What was read may be older than the pointer that lies there: then the next sweep comes.
        CoordinationOp unchanged;
        unchanged.path = sweep->path;
        unchanged.version = fact->version;
        sweep->checks.push_back(std::move(unchanged));
        std::erase_if(sweep->found, [&](const std::string& chunk) {
          return std::find(fact->chunks.begin(), fact->chunks.end(), chunk) != fact->chunks.end();
        });
        remove_next(sweep);
      });
    });
  }

  static void remove_next(std::shared_ptr<Sweeping> sweep) {
    if (sweep->found.empty()) return sweep->done({});
    std::vector<CoordinationOp> ops = sweep->checks;
    ops.push_back(removal_of(sweep->found.back()));
    sweep->found.pop_back();
    sweep->coordination.multi(std::move(ops), [sweep](auto result) {
      if (!result.ok()) return sweep->done(result.error());
      remove_next(sweep);
    });
  }
};

void ensure_folder(Coordination& coordination, size_t index, VoidDone done) {
  static constexpr const char* kFolders[] = {paths::kNodes, paths::kViewManagers, paths::kElection};
  if (index == std::size(kFolders)) return done({});
  coordination.create(kFolders[index], "", EntryMode::Persistent,
                      [&coordination, index, done = std::move(done)](auto created) {
                        if (!created.ok() && created.error() != CoordinationError::NodeExists)
                          return done(created.error());
                        ensure_folder(coordination, index + 1, done);
                      });
}

}  // namespace

const char* to_string(CoordinationError error) {
  switch (error) {
    case CoordinationError::NoNode: return "no such entry";
    case CoordinationError::NodeExists: return "entry exists";
    case CoordinationError::BadVersion: return "another version";
    case CoordinationError::NotEmpty: return "entry has children";
    case CoordinationError::Disconnected: return "connection lost, outcome unknown";
    case CoordinationError::SessionExpired: return "session expired";
    case CoordinationError::Refused: return "refused";
  }
  TM_UNREACHABLE();
}

bool is_valid_member_name(std::string_view name) {
  auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

void ensure_folders(Coordination& coordination, VoidDone done) {
  ensure_folder(coordination, 0, std::move(done));
}

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

void write_facts(Coordination& coordination, std::vector<FactWrite> writes, uint64_t nonce,
                 std::vector<CoordinationOp> checks, VoidDone done) {
  TM_ASSERT(!writes.empty());
  auto writing = std::make_shared<Writing>(coordination, std::move(checks), std::move(done));
  for (FactWrite& write : writes) writing->add(std::move(write), nonce);
  writing->next_chunk();
}

void sweep_chunks(Coordination& coordination, const std::string& path, std::vector<CoordinationOp> checks,
                  VoidDone done) {
  Sweeping::list(
      std::make_shared<Sweeping>(Sweeping{coordination, path, std::move(checks), std::move(done), {}}));
}

}  // namespace tidemark
