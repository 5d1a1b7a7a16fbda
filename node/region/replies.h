// The messages that a region answers with.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "node/region/commands.h"
#include "node/region/facts.h"
#include "proto/messages.pb.h"

namespace tidemark {

inline void send(RegionCommands& out, const Asker& to, pb::Message message) {
  message.set_request(to.request);
  out.sends.push_back({to.peer, std::make_shared<const pb::Message>(std::move(message))});
}

pb::Message refusal(pb::RefusalCode code, std::string text, RegionId region);
// With where to look instead, as far as the facts tell.
pb::Message not_owner(RegionId region, const std::optional<RegionFacts>& facts);

// Answers that tell of records which are not durable yet.
class HeldReplies {
 public:
  // `after` none: everything that it tells of is durable already. A question for positions is answered by the
  // answer that is held for the same peer, if there is one: it asks again and again while the log stalls. (A
  // later answer would wait for later records each time, and never be sent.)
  void hold(std::optional<Offset> after, const Asker& to, pb::Message message, RegionCommands& out);
  void release(Offset durable, RegionCommands& out);
  // What was in flight may or may not count.
  void give_up(RegionId region, RegionCommands& out);
  size_t size() const { return held_.size(); }

 private:
  struct Held {
    Offset after;
    Asker to;
    pb::Message message;
  };
  std::deque<Held> held_;  // In order.
};

}  // namespace tidemark
