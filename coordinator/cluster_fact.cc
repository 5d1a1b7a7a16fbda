#include "coordinator/cluster_fact.h"

#include <memory>
#include <optional>

#include "coordinator/facts.h"

namespace tidemark {

namespace {

struct Search : std::enable_shared_from_this<Search> {
  Coordination& coordination;
  Scheduler& scheduler;
  std::function<void(const pb::ClusterFact&)> done;
  // None: somebody else creates it.
  struct Wanted {
    pb::ClusterFact fact;
    uint64_t nonce;
  };
  std::optional<Wanted> wanted;

  Search(Coordination& on, Scheduler& loop, std::function<void(const pb::ClusterFact&)> then,
         std::optional<Wanted> fact)
      : coordination(on), scheduler(loop), done(std::move(then)), wanted(std::move(fact)) {}

  void begin() {
    ensure_folders(coordination, [self = shared_from_this()](Result<void, CoordinationError> made) {
      if (!made.ok()) return self->again();
      self->read();
    });
  }

  void read() {
    read_fact(coordination, paths::kCluster, {},
              [self = shared_from_this()](Result<Fact, CoordinationError> fact) {
                pb::ClusterFact found;
                if (fact.ok() && found.ParseFromString(fact->data) && found.cluster() != 0)
                  return self->done(found);
                bool missing = !fact.ok() && fact.error() == CoordinationError::NoNode;
                if (missing && self->wanted) return self->create();
                self->again();
              });
  }

  // Whatever the outcome, the truth is what is read afterwards: somebody else may have been first.
  void create() {
    write_facts(coordination, {{paths::kCluster, wanted->fact.SerializeAsString(), std::nullopt}},
                wanted->nonce, {}, [self = shared_from_this()](Result<void, CoordinationError> written) {
                  if (written.ok()) return self->read();
                  self->again();
                });
  }

  void again() {
    scheduler.post_after(kFactRetryDelay, [self = shared_from_this()] { self->begin(); });
  }
};

}  // namespace

void find_cluster(Coordination& coordination, Scheduler& scheduler, Random& random, pb::ClusterFact wanted,
                  std::function<void(const pb::ClusterFact&)> done) {
  uint64_t nonce = random.next();
  wanted.set_cluster(random.next() | 1);  // Never 0.
  std::make_shared<Search>(coordination, scheduler, std::move(done), Search::Wanted{std::move(wanted), nonce})
      ->begin();
}

void await_cluster(Coordination& coordination, Scheduler& scheduler,
                   std::function<void(const pb::ClusterFact&)> done) {
  std::make_shared<Search>(coordination, scheduler, std::move(done), std::nullopt)->begin();
}

}  // namespace tidemark
