#include "coordinator/relay.h"

#include <algorithm>

#include "coordinator/election.h"
#include "proto/messages.pb.h"

namespace tidemark {

namespace {
// Longer than anyone waits for an answer.
constexpr Micros kForgetAfter{60'000'000};
}  // namespace

Relay::Relay(Scheduler& scheduler, Coordination& coordination, Transport& transport, Random& random)
    : scheduler_(scheduler),
      coordination_(coordination),
      transport_(transport),
      state_(std::make_shared<State>(State{{}, random.next()})) {}

void Relay::pass_on(const Address& from, const MessagePtr& message, const std::string& self,
                    std::function<void()> unknown) {
  std::weak_ptr<State> weak = state_;
  auto send = [this, weak, from, message, self, unknown](const std::optional<pb::ProcessFact>& coordinator) {
    auto state = weak.lock();
    if (!state) return;
    if (!coordinator || coordinator->name() == self) return unknown();
    auto copy = std::make_shared<pb::Message>(*message);
    uint64_t number = state->next++;
    copy->set_request(number);
    state->waiting[number] = {from, message->request()};
    scheduler_.post_after(kForgetAfter, [weak, number] {
      if (auto mine = weak.lock()) mine->waiting.erase(number);
    });
    transport_.send(Address{coordinator->address()}, copy);
  };
  coordination_.children(paths::kElection, nullptr, [this, weak, send](auto names) {
    if (!weak.lock()) return;
    if (!names.ok() || names->empty()) return send(std::nullopt);
    auto first = std::min_element(names->begin(), names->end(), [](const auto& a, const auto& b) {
      return election_number(a) < election_number(b);
    });
    coordination_.get(paths::kElection + ("/" + *first), nullptr, [name = *first, send](auto entry) {
      if (!entry.ok()) return send(std::nullopt);
      send(coordinator_from({{name, std::move(*entry)}}));
    });
  });
}

bool Relay::pass_back(const MessagePtr& message) {
  auto asker = state_->waiting.extract(message->request());
  if (asker.empty()) return false;
  auto copy = std::make_shared<pb::Message>(*message);
  copy->set_request(asker.mapped().request);
  transport_.send(asker.mapped().address, copy);
  return true;
}

}  // namespace tidemark
