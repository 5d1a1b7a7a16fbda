#include <map>
#include <set>
#include <utility>

#include "coordinator/facts.h"

namespace tidemark {

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
  bool armed = false;              // A watch is set: a second one would only tell of the same change.
  bool arming = false;             // The call under way sets it.
  std::optional<int32_t> version;  // Of what was told last.

  State(Coordination& c, Scheduler& s, std::string p, OnFact f)
      : coordination(c), scheduler(s), path(std::move(p)), on_fact(std::move(f)) {}

  // A new watch, unless one is set. A call that fails has set none.
  Coordination::Watch watch() {
    arming = !std::exchange(armed, true);
    if (!arming) return nullptr;
    return [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      self->armed = false;
      self->read();
    };
  }
  void watch_failed() {
    if (arming) armed = false;
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
    if (!fact.ok()) watch_failed();
    if (fact.ok()) {
      tell(std::move(*fact));
    } else if (fact.error() == CoordinationError::NoNode) {
      return wait_for_creation();
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
    reading = true;
    coordination.exists(path, watch(), [weak = weak_from_this()](Result<bool, CoordinationError> there) {
      auto self = weak.lock();
      if (!self || self->stopped) return;
      self->reading = false;
      if (!there.ok()) {
        self->watch_failed();
        return self->retry();
      }
      if (!*there) self->tell(std::nullopt);
      if (!self->stopped && (std::exchange(self->again, false) || *there)) self->read();
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
  std::set<std::string> armed;  // Paths with a watch set: a second one would only tell of the same change.
  std::map<std::string, Entry> known;  // By path: as long as its watch has told of no change, it holds.

  State(Coordination& c, Scheduler& s, std::string p, OnEntries f)
      : coordination(c), scheduler(s), path(std::move(p)), on_entries(std::move(f)) {}

  Coordination::Watch watch(const std::string& at) {
    if (!armed.insert(at).second) return nullptr;
    return [weak = weak_from_this(), at] {
      auto self = weak.lock();
      if (!self) return;
      self->forget(at);
      self->read();
    };
  }

  void forget(const std::string& at) {
    armed.erase(at);
    known.erase(at);
  }

  void read() {
    if (stopped) return;
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    coordination.children(
        path, watch(path),
        [weak = weak_from_this()](Result<std::vector<std::string>, CoordinationError> names) {
          auto self = weak.lock();
          if (!self) return;
          if (!names.ok()) return self->fail(self->path, names.error());
          self->collect(std::make_shared<std::vector<std::string>>(std::move(*names)), 0,
                        std::make_shared<std::vector<Named>>());
        });
  }

  void collect(std::shared_ptr<std::vector<std::string>> names, size_t index,
               std::shared_ptr<std::vector<Named>> found) {
    std::string at;
    for (;; ++index) {
      if (index == names->size()) return finish(*found);
      at = path + "/" + (*names)[index];
      auto it = known.find(at);
      if (it == known.end()) break;
      found->push_back({(*names)[index], it->second});
    }
    coordination.get(at, watch(at), [weak = weak_from_this(), at, names, index, found](auto entry) {
      auto self = weak.lock();
      if (!self) return;
      if (entry.ok()) {
        if (self->armed.contains(at)) self->known[at] = *entry;
        found->push_back({(*names)[index], std::move(*entry)});
      } else if (entry.error() == CoordinationError::NoNode) {
        self->forget(at);  // It went meanwhile.
      } else {
        return self->fail(at, entry.error());
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

  // A call that fails may have set no watch: the next one sets it anew.
  void fail(const std::string& at, CoordinationError error) {
    forget(at);
    auto later = [weak = weak_from_this()](auto&&...) {
      if (auto self = weak.lock()) self->retry();
    };
    if (error == CoordinationError::NoNode) return ensure_folders(coordination, later);
    later();
  }

  void retry() {
    scheduler.post_after(kFactRetryDelay, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      self->reading = self->again = false;
      self->read();
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
