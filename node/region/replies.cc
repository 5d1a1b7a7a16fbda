#include "node/region/replies.h"

#include <algorithm>

#include "base/assert.h"
#include "base/mutation.h"

namespace tidemark {

pb::Message refusal(pb::RefusalCode code, std::string text, RegionId region) {
  pb::Message out;
  out.mutable_refusal()->set_code(code);
  out.mutable_refusal()->set_message(std::move(text));
  out.mutable_refusal()->set_region(region.value);
  return out;
}

pb::Message not_owner(RegionId region, const std::optional<RegionFacts>& facts) {
  pb::Message out = refusal(pb::NOT_OWNER, "this node does not serve the region", region);
  if (facts) {
    out.mutable_refusal()->set_owner(facts->entry.owner());
    out.mutable_refusal()->set_map_version(facts->map_version.value);
  }
  return out;
}

namespace {

// And answers no batch.
bool tells_positions(const pb::Message& message) {
  const pb::EffectAnswer& answer = message.effects_answer();
  return answer.verdict() == pb::EffectAnswer::REFUSED && !answer.has_part();
}

}  // namespace

void HeldReplies::hold(std::optional<Offset> after, const Asker& to, pb::Message message,
                       RegionCommands& out) {
  if (!after || TM_MUTATION("acknowledge before durable")) return send(out, to, std::move(message));
  TM_ASSERT(held_.empty() || held_.back().after <= *after, *after);
  if (tells_positions(message)) {
    auto earlier = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
      return held.to.peer == to.peer && tells_positions(held.message);
    });
    if (earlier != held_.end()) {
      earlier->to = to;
      return;
    }
  }
  held_.push_back({*after, to, std::move(message)});
}

void HeldReplies::release(Offset durable, RegionCommands& out) {
  while (!held_.empty() && held_.front().after <= durable) {
    send(out, held_.front().to, std::move(held_.front().message));
    held_.pop_front();
  }
}

void HeldReplies::give_up(RegionId region, RegionCommands& out) {
  for (const Held& held : held_) {
    send(out, held.to, refusal(pb::OUTCOME_UNKNOWN, "the region is being opened again", region));
  }
  held_.clear();
}

}  // namespace tidemark
