#include "coordinator/fact_store.h"

#include <array>

#include "base/assert.h"
#include "base/mutation.h"

namespace tidemark {

namespace {

struct Part {
  const char* path;
  google::protobuf::MessageLite* (*of)(ClusterFacts&);
};

constexpr std::array<Part, 8> kParts = {{
    {paths::kCluster, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.cluster; }},
    {paths::kRing, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.ring; }},
    {paths::kRegionMap, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.map; }},
    {paths::kCatalog, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.catalog; }},
    {paths::kWishes, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.wishes; }},
    {paths::kOperations, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.operations; }},
    {paths::kStaged, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.staged; }},
    {paths::kHistory, [](ClusterFacts& f) -> google::protobuf::MessageLite* { return &f.history; }},
}};

CoordinationOp check(const std::string& path, std::optional<int32_t> version) {
  CoordinationOp op;
  op.kind = CoordinationOp::Kind::Check;
  op.path = path;
  op.version = version;
  return op;
}

std::string bytes_of(const ClusterFacts& facts, const Part& part) {
  // The accessor is not const because reading parses into it.
  return part.of(const_cast<ClusterFacts&>(facts))->SerializeAsString();
}

}  // namespace

struct FactStore::State : std::enable_shared_from_this<State> {
  explicit State(Coordination& c) : coordination(c) {}

  void read(size_t index, std::shared_ptr<ClusterFacts> into, Loaded done) {
    if (index == kParts.size()) return done(std::move(*into));
    const Part& part = kParts[index];
    read_fact(coordination, part.path, nullptr, [weak = weak_from_this(), index, into, done](auto fact) {
      auto self = weak.lock();
      if (!self) return;
      std::optional<Fact>& mine = self->known[kParts[index].path];
      mine.reset();
      if (fact.ok()) {
        if (!kParts[index].of(*into)->ParseFromString(fact->data)) return done(CoordinationError::Refused);
        mine = std::move(*fact);
      } else if (fact.error() != CoordinationError::NoNode) {
        return done(fact.error());
      }
      self->read(index + 1, into, done);
    });
  }

  // Facts that are written next, with the checks of those that are not.
  std::vector<FactWrite> differences(const ClusterFacts& after, std::vector<CoordinationOp>& checks) const {
    std::vector<FactWrite> writes;
    for (const Part& part : kParts) {
      const std::optional<Fact>& old = known.at(part.path);
      std::string bytes = bytes_of(after, part);
      if (old && bytes == old->data) {
        checks.push_back(check(part.path, old->version));
      } else {
        writes.push_back({part.path, std::move(bytes), old});
      }
    }
    return writes;
  }

  Coordination& coordination;
  std::map<std::string, std::optional<Fact>> known;
};

FactStore::FactStore(Coordination& coordination) : state_(std::make_shared<State>(coordination)) {}

FactStore::~FactStore() = default;

void FactStore::load(Loaded done) {
  state_->known.clear();
  state_->read(0, std::make_shared<ClusterFacts>(), std::move(done));
}

void FactStore::write(const std::string& guard, const ClusterFacts& after, uint64_t nonce,
                      std::function<void(Result<void, CoordinationError>)> done) {
  TM_ASSERT(state_->known.size() == kParts.size());
  std::vector<CoordinationOp> checks = {check(guard, std::nullopt)};
  if (TM_MUTATION("deposed coordinator writes")) checks.clear();
  std::vector<FactWrite> writes = state_->differences(after, checks);
  if (writes.empty()) {  // An operator's wish that is so already: only whether we may still speak is asked.
    return state_->coordination.multi(std::move(checks), [done = std::move(done)](auto result) {
      if (!result.ok()) return done(result.error());
      done({});
    });
  }
  // What will be known if it succeeds. Chunked facts are read again: only their writer knew their names.
  std::map<std::string, std::optional<Fact>> next = state_->known;
  bool chunked = false;
  for (const FactWrite& write : writes) {
    chunked |= write.data.size() > kFactInlineBytesMax;
    next[write.path] = Fact{write.data, write.old ? write.old->version + 1 : 0, {}};
  }
  write_facts(state_->coordination, std::move(writes), nonce, std::move(checks),
              [state = state_, next = std::move(next), chunked, done = std::move(done)](auto result) {
                state->known.clear();
                if (!result.ok()) return done(result);
                if (!chunked) {
                  state->known = next;
                  return done(result);
                }
                state->read(0, std::make_shared<ClusterFacts>(), [done](auto loaded) {
                  if (!loaded.ok()) return done(loaded.error());
                  done({});
                });
              });
}

void FactStore::sweep(const std::string& guard) {
  for (const Part& part : kParts) {
    const auto& fact = state_->known.find(part.path);
    if (fact == state_->known.end() || !fact->second) continue;
    sweep_chunks(state_->coordination, part.path, {check(guard, std::nullopt)}, [](auto) {});
  }
}

}  // namespace tidemark
