// Any bytes as what a PostgreSQL client sends, to a connection with a session that parses, binds and reads.
// The first two bytes say how they come: in pieces of which size, whether answers are taken at once, after
// which piece there is a cancel. Nothing may crash, hang, answer out of form, or hold more than its bounds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "sql/expr/program.h"
#include "sql/gateway/connection.h"
#include "tests/fuzz/memory_session.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark::sql {
namespace {

constexpr size_t kOutputMax = 8 << 10;
constexpr size_t kResultMax = 256 << 10;
// A message may be a row of all that expressions may take; as text, bytes are twice as long.
constexpr size_t kMessageMax = 4 * kRunBytesMax;
constexpr int kTurnsMax = 1'000'000;

// Reads what the server sends as a client would.
class Answers {
 public:
  void take(std::string_view bytes) {
    pending_.append(bytes);
    std::string_view left = pending_;
    while (take_one(left)) continue;
    pending_.erase(0, pending_.size() - left.size());
  }
  bool are_whole() const { return pending_.empty(); }

 private:
  bool take_one(std::string_view& left) {
    if (!started_ && left.starts_with('N')) {  // The answer to SSLRequest has no form.
      left.remove_prefix(1);
      return true;
    }
    if (left.size() < 5) return false;
    WireReader head(left);
    const char type = static_cast<char>(head.byte());
    const auto size = static_cast<size_t>(static_cast<uint32_t>(head.int32()));
    TM_ASSERT(std::string_view("RvSKZENTDCt12n3sIG").find(type) != std::string_view::npos);
    TM_ASSERT(size >= 4);
    TM_ASSERT(size <= kMessageMax);
    if (left.size() < size + 1) return false;
    started_ |= type == 'R';
    left.remove_prefix(size + 1);
    return true;
  }

  std::string pending_;
  bool started_ = false;
};

struct Manner {
  size_t piece_bytes;
  bool takes_at_once;
  int cancel_after;  // Pieces; 0: never.

  static Manner of(uint8_t how, uint8_t cancel) {
    constexpr size_t kSizes[] = {1, 7, 100, 4096};
    return {kSizes[how & 3], (how & 4) != 0, cancel};
  }
};

class Conversation {
 public:
  explicit Conversation(const Manner& manner) : manner_(manner) {}

  void run(std::string_view bytes) {
    for (int piece = 1; !bytes.empty() && !connection_.closed(); ++piece) {
      const std::string_view now = bytes.substr(0, manner_.piece_bytes);
      bytes.remove_prefix(now.size());
      connection_.feed(now);
      if (manner_.takes_at_once) take();
      if (piece == manner_.cancel_after) connection_.cancel();
      // A driver reads no further while its input waits.
      while (!connection_.wants_input() && !connection_.closed()) settle();
    }
    settle();
    TM_ASSERT(answers_.are_whole());
  }

 private:
  static ConnectionOptions options() {
    ConnectionOptions out;
    out.output_bytes_max = kOutputMax;
    out.result_bytes_max = kResultMax;
    return out;
  }

  void take() {
    const std::string output = connection_.take_output();
    TM_ASSERT(output.size() <= kResultMax + kMessageMax);
    answers_.take(output);
    connection_.go_on();
  }

  // Until nothing moves any more.
  void settle() {
    for (bool moved = true; moved;) {
      moved = connection_.has_output();
      if (moved) take();
      for (; loop_.run_one(); moved = true) TM_ASSERT(++turns_ < kTurnsMax);
    }
  }

  static testing::MemoryWorld& world() {
    static testing::MemoryWorld world;
    return world;
  }

  const Manner manner_;
  VirtualScheduler loop_;
  Answers answers_;
  int turns_ = 0;
  Connection connection_{
      CancelKey{7, 42},
      [this](const SessionRequest&) -> Result<std::unique_ptr<Session>, SqlError> {
        return std::unique_ptr<Session>(std::make_unique<testing::MemorySession>(loop_, world()));
      },
      {{}, {}, [this](CancelKey) { connection_.cancel(); }},
      options()};
};

}  // namespace
}  // namespace tidemark::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  tidemark::sql::Conversation conversation(tidemark::sql::Manner::of(data[0], data[1]));
  conversation.run({reinterpret_cast<const char*>(data) + 2, size - 2});
  return 0;
}
