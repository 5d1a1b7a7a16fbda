#include "net/request_table.h"

#include <algorithm>

#include "base/assert.h"
#include "base/buggify.h"
#include "proto/messages.pb.h"

namespace tidemark {

namespace {

// Refusals after which the same question may find a better answer.
bool worth_retrying(pb::RefusalCode code) {
  return code == pb::NOT_OWNER || code == pb::OPENING || code == pb::OVERLOADED ||
         code == pb::OUTCOME_UNKNOWN || code == pb::TOO_MANY_SESSIONS || code == pb::CATALOG_BEHIND;
}

}  // namespace

RequestTable::RequestTable(Scheduler& scheduler, Transport& transport, RegionDirectory& directory,
                           Random& random, RetryOptions options)
    : scheduler_(scheduler),
      transport_(transport),
      directory_(directory),
      options_(options),
      next_id_(random.next() | 1) {}

uint64_t RequestTable::ask(Question question) {
  uint64_t id = next_id_++;
  if (id == 0) id = next_id_++;
  Pending& pending = pending_[id];
  pending.question = std::move(question);
  pending.delay = options_.delay_min;
  call_after(Micros{0}, id, pending.attempt, &RequestTable::attempt);
  return id;
}

void RequestTable::drop(uint64_t id) {
  pending_.erase(id);
}

void RequestTable::on_message(const pb::Message& message) {
  auto it = pending_.find(message.request());
  if (it == pending_.end()) return;  // Late, or a repeat.
  if (message.has_refusal() && worth_retrying(message.refusal().code())) {
    if (message.refusal().code() == pb::NOT_OWNER) directory_.look_again();
    const bool undone = message.refusal().code() != pb::OUTCOME_UNKNOWN;
    if (undone && it->second.question.on_undone) it->second.question.on_undone();
    retry(it->first, it->second);
    return;
  }
  auto on_answer = std::move(it->second.question.on_answer);
  pending_.erase(it);
  on_answer(message);
}

void RequestTable::on_disconnect(const Address& peer) {
  bool any = false;
  for (auto& [id, pending] : pending_) {
    if (pending.sent_to != peer) continue;
    any = true;
    retry(id, pending);
  }
  if (any) directory_.look_again();
}

void RequestTable::retry(uint64_t id, Pending& pending) {
  pending.sent_to = Address{};
  call_after(pending.delay, id, ++pending.attempt, &RequestTable::attempt);
  pending.delay = Micros{std::min(pending.delay.value * 2, options_.delay_max.value)};
}

void RequestTable::call_after(Micros delay, uint64_t id, uint64_t attempt, Task task) {
  auto fire = [this, id, attempt, task] {
    auto it = pending_.find(id);
    if (it != pending_.end() && it->second.attempt == attempt) (this->*task)(id, it->second);
  };
  if (delay.value == 0) {
    scheduler_.post(std::move(fire));
  } else {
    scheduler_.post_after(delay, std::move(fire));
  }
}

void RequestTable::attempt(uint64_t id, Pending& pending) {
  if (scheduler_.now() >= pending.question.deadline) {
    auto on_deadline = std::move(pending.question.on_deadline);
    pending_.erase(id);
    on_deadline();
    return;
  }
  Address to;
  MessagePtr message = pending.question.make(id, to);
  auto it = pending_.find(id);
  if (it == pending_.end()) return;  // make() ended it.
  if (!message) {
    directory_.look_again();
    retry(id, it->second);
    return;
  }
  it->second.sent_to = to;
  transport_.send(to, std::move(message));
  const bool is_impatient = TM_BUGGIFY("client: an answer is not waited for");
  const Micros patience = is_impatient ? options_.delay_min : options_.reply_timeout;
  call_after(patience, id, it->second.attempt, &RequestTable::retry);
}

}  // namespace tidemark
