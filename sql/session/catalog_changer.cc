#include "sql/session/catalog_changer.h"

namespace tidemark::sql {

namespace {
constexpr Micros kRetryDelay{1'000'000};
constexpr Micros kNobodyDelay{50'000};
}  // namespace

CatalogChanger::CatalogChanger(Scheduler& scheduler, Transport& transport, const WatchedDirectory& directory,
                               Random& random)
    : scheduler_(scheduler), transport_(transport), directory_(directory), next_(random.next() >> 1) {
  transport_.set_handlers({[this](const Address&, MessagePtr message) { on_message(*message); }, {}});
}

CatalogChanger::~CatalogChanger() {
  transport_.set_handlers({});
}

void CatalogChanger::ask(const pb::CatalogRequest& request, std::weak_ptr<int> token,
                         std::function<void(const ChangeAnswer&)> done) {
  auto message = std::make_shared<pb::Message>();
  *message->mutable_change_catalog() = request;
  ask({}, std::move(message), std::move(token),
      [done = std::move(done)](const pb::Message& answer, uint32_t attempts) {
        const pb::CatalogReply& reply = answer.catalog_changed();
        done({reply.ok(), reply.message(), reply.version(), attempts > 1});
      });
}

void CatalogChanger::ask_freshness(std::weak_ptr<int> token,
                                   std::function<void(const pb::FreshnessReply&)> done) {
  auto message = std::make_shared<pb::Message>();
  message->mutable_freshness();
  ask({}, std::move(message), std::move(token),
      [done = std::move(done)](const pb::Message& reply, uint32_t) { done(reply.views_freshness()); });
}

void CatalogChanger::hold_writes(Micros bound, std::weak_ptr<int> token, std::function<void()> done) {
  const std::set<Address> all = owners();
  auto left = std::make_shared<size_t>(all.size());
  auto on_answer = [left, done = std::move(done)](const pb::Message&, uint32_t) {
    if (--*left == 0) done();
  };
  for (const Address& node : all) {
    auto message = std::make_shared<pb::Message>();
    message->mutable_hold_writes()->set_micros(bound.value);
    ask(node, std::move(message), token, on_answer);
  }
}

void CatalogChanger::ask(Address to, std::shared_ptr<pb::Message> request, std::weak_ptr<int> token,
                         std::function<void(const pb::Message&, uint32_t)> done) {
  const uint64_t number = next_++;
  request->set_request(number);
  pending_[number] = {std::move(to), std::move(request), std::move(token), std::move(done)};
  scheduler_.post([this, number] { send(number); });
}

// Nodes that own regions and are alive.
std::set<Address> CatalogChanger::owners() const {
  std::set<Address> out;
  for (const RegionPlace& place : directory_.places()) {
    if (!place.address.value.empty()) out.insert(place.address);
  }
  return out;
}

// In turn.
Address CatalogChanger::pick_node(uint32_t attempt) const {
  const std::set<Address> alive = owners();
  if (alive.empty()) return {};
  return *std::next(alive.begin(), attempt % alive.size());
}

void CatalogChanger::send(uint64_t number) {
  auto found = pending_.find(number);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  if (pending.token.expired()) {
    pending_.erase(found);
    return;
  }
  const Address to = pending.to.value.empty() ? pick_node(pending.attempts) : pending.to;
  if (!to.value.empty()) {
    transport_.send(to, pending.request);
    ++pending.attempts;
  }
  scheduler_.post_after(to.value.empty() ? kNobodyDelay : kRetryDelay, [this, number] { send(number); });
}

void CatalogChanger::on_message(const pb::Message& message) {
  auto found = pending_.find(message.request());
  if (!is_answer(message) || found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  if (pending.token.expired()) return;
  pending.done(message, pending.attempts);
}

}  // namespace tidemark::sql
