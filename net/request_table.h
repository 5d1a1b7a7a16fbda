// Questions that wait for answers: each is sent, and sent again, until it is answered or its deadline has
// passed. What to send is made anew for each attempt, since the region may have moved meanwhile.
#pragma once

#include <functional>
#include <map>

#include "base/guarded_scheduler.h"
#include "base/random.h"
#include "net/region_directory.h"
#include "net/transport.h"

namespace tidemark {

struct RetryOptions {
  Micros reply_timeout;
  Micros delay_min;
  Micros delay_max;
};

class RequestTable {
 public:
  struct Question {
    // The message for this attempt, without its request id, and whom to send it to. nullptr: nobody is
    // known to send it to now; it is tried again later. It may end the question by calling drop().
    std::function<MessagePtr(uint64_t id, Address& to)> make;
    // Not called for refusals that only mean "try again, perhaps elsewhere".
    std::function<void(const pb::Message& answer)> on_answer;
    // An attempt came back undone, and another will be made. May be empty.
    std::function<void()> on_undone = {};
    std::function<void()> on_deadline;
    Micros deadline;  // On the scheduler's clock.
  };

  RequestTable(Scheduler& scheduler, Transport& transport, RegionDirectory& directory, Random& random,
               RetryOptions options);

  uint64_t ask(Question question);  // Sends at the next turn of the loop.
  void drop(uint64_t id);

  // From the transport's handlers.
  void on_message(const pb::Message& message);
  void on_disconnect(const Address& peer);

 private:
  struct Pending {
    Question question;
    Address sent_to;
    Micros delay{};
    uint64_t attempt = 0;  // Timers of older attempts do nothing.
  };
  using Task = void (RequestTable::*)(uint64_t id, Pending& pending);

  void attempt(uint64_t id, Pending& pending);
  void retry(uint64_t id, Pending& pending);
  // Calls `task` after `delay` unless the question has ended or a newer attempt has begun.
  void call_after(Micros delay, uint64_t id, uint64_t attempt, Task task);

  GuardedScheduler scheduler_;
  Transport& transport_;
  RegionDirectory& directory_;
  RetryOptions options_;
  uint64_t next_id_;
  std::map<uint64_t, Pending> pending_;
};

}  // namespace tidemark
