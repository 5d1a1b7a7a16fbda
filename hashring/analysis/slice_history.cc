#include "hashring/analysis/slice_history.h"

#include "hashring/handoff_ring.h"
#include "hashring/mix.h"
#include "hashring/shares.h"

namespace tidemark::hashring {

namespace {

class Changer {
 public:
  Changer(History history, uint32_t members, uint64_t seed) : history_(history), seed_(seed) {
    for (uint32_t i = 0; i < members; ++i) join();
  }
  const Members& members() const { return members_; }

  void change() {
    switch (history_) {
      case History::Growing: join(); break;
      case History::Churning:
        if (++turn_ % 2 == 1) {
          join();
        } else {
          leave();
        }
        break;
      case History::Replacing:
        leave();
        join();
        break;
      case History::Reweighting: members_[pick()].weight = 1 + draw(seed_, draws_++) % 8; break;
    }
  }

 private:
  size_t pick() { return unit_of(draw(seed_, draws_++), {members_.size()}); }
  void join() {
    members_.push_back({MemberId{next_}, "n" + std::to_string(next_), 1});
    ++next_;
  }
  void leave() { members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(pick())); }

  History history_;
  uint64_t seed_;
  uint64_t draws_ = 0;
  uint32_t next_ = 0;
  uint32_t turn_ = 0;
  Members members_;
};

// Everything that shares demand: what members give up is what others receive.
double least_moved(const SliceRing& present, const Members& members) {
  const std::vector<u128> held = units_owned(present, members);
  const std::vector<u128> share = fair_shares(present.size(), members, held);
  u128 received = 0;
  for (size_t i = 0; i < share.size(); ++i) received += share[i] > held[i] ? share[i] - held[i] : 0;
  return static_cast<double>(received) / static_cast<double>(present.size().units);
}

}  // namespace

void run_history(History history, GapCollection collection, RingSize size, uint32_t members_at_start,
                 uint32_t changes, uint64_t seed, const std::function<void(const HistoryStep&)>& each) {
  Changer changer(history, members_at_start, seed);
  SliceRing ring = *reslice(SliceRing::unowned(size), changer.members(), collection);
  each({0, changer.members().size(), ring.slice_count(), 0, 0});
  for (uint32_t i = 1; i <= changes; ++i) {
    changer.change();
    const double minimum = least_moved(ring, changer.members());
    SliceRing next = *reslice(ring, changer.members(), collection);
    const u128 moved = units_moved(*handoff_ring(ring, next));
    ring = std::move(next);
    each({i, changer.members().size(), ring.slice_count(),
          static_cast<double>(moved) / static_cast<double>(size.units), minimum});
  }
}

std::vector<Members> members_of(History history, uint32_t members_at_start, uint32_t changes, uint64_t seed) {
  Changer changer(history, members_at_start, seed);
  std::vector<Members> all = {changer.members()};
  for (uint32_t i = 0; i < changes; ++i) {
    changer.change();
    all.push_back(changer.members());
  }
  return all;
}

}  // namespace tidemark::hashring
