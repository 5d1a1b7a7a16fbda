// Asks the coordinator for changes of the catalog, and how fresh views are, by any node, which passes it on;
// and every node to hold client writes. Again until answered.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/guarded_scheduler.h"
#include "base/random.h"
#include "coordinator/watched_directory.h"
#include "net/transport.h"
#include "proto/messages.pb.h"

namespace tidemark::sql {

struct ChangeAnswer {
  bool ok = false;
  std::string message;
  uint64_t version = 0;  // Of the catalog, as the coordinator knows it; 0: nobody is coordinator just now.
  // An attempt before this one was not answered: the change may have been made by that.
  bool is_repeat = false;
};

// Lives on one loop. Takes over the transport's handlers. REQUIRES: all outlive it.
class CatalogChanger {
 public:
  CatalogChanger(Scheduler& scheduler, Transport& transport, const WatchedDirectory& directory,
                 Random& random);
  ~CatalogChanger();

  // To what is asked here.
  static bool is_answer(const pb::Message& message) {
    return message.has_catalog_changed() || message.has_views_freshness() || message.has_writes_held();
  }

  // `done` is called with the first answer, unless the token has expired by then.
  void ask(const pb::CatalogRequest& request, std::weak_ptr<int> token,
           std::function<void(const ChangeAnswer&)> done);

  // Likewise. With `failed` nobody is coordinator just now.
  void ask_freshness(std::weak_ptr<int> token, std::function<void(const pb::FreshnessReply&)> done);

  // Asks the owners of regions to hold client writes for so long; 0: no longer. `done` is called when all
  // have answered, unless the token has expired by then.
  void hold_writes(Micros bound, std::weak_ptr<int> token, std::function<void()> done);

 private:
  struct Pending {
    Address to;  // Empty: any node.
    std::shared_ptr<pb::Message> request;
    std::weak_ptr<int> token;
    std::function<void(const pb::Message& reply, uint32_t attempts)> done;
    uint32_t attempts = 0;
  };

  void ask(Address to, std::shared_ptr<pb::Message> request, std::weak_ptr<int> token,
           std::function<void(const pb::Message&, uint32_t)> done);

  void send(uint64_t number);
  void on_message(const pb::Message& message);
  std::set<Address> owners() const;
  Address pick_node(uint32_t attempt) const;

  GuardedScheduler scheduler_;
  Transport& transport_;
  const WatchedDirectory& directory_;
  std::map<uint64_t, Pending> pending_;
  uint64_t next_;
};

}  // namespace tidemark::sql
