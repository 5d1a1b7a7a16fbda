#include "coordinator/cluster_fact.h"

#include <memory>

#include "coordinator/facts.h"

namespace tidemark {

namespace {

struct Search : std::enable_shared_from_this<Search> {
  Coordination& coordination;
  Scheduler& scheduler;
  pb::ClusterFact wanted;
  uint64_t nonce;
  std::function<void(const pb::ClusterFact&)> done;

  Search(Coordination& on, Scheduler& loop, Random& random, pb::ClusterFact fact,
         std::function<void(const pb::ClusterFact&)> then)
      : coordination(on),
        scheduler(loop),
        wanted(std::move(fact)),
        nonce(random.next()),
        done(std::move(then)) {
    wanted.set_cluster(random.next() | 1);  // Never 0.
  }

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
                if (!fact.ok() && fact.error() == CoordinationError::NoNode) return self->create();
                self->again();
              });
  }

  // Whatever the outcome, the truth is what is read afterwards: somebody else may have been first.
  void create() {
    write_facts(coordination, {{paths::kCluster, wanted.SerializeAsString(), std::nullopt}}, nonce, {},
                [self = shared_from_this()](Result<void, CoordinationError> written) {
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
  std::make_shared<Search>(coordination, scheduler, random, std::move(wanted), std::move(done))->begin();
}

}  // namespace tidemark
