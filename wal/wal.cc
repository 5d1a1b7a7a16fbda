#include "wal/wal.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "base/buggify.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "wal/stream_name.h"
#include "wal/stream_reader.h"

namespace tidemark {
namespace {

enum class Phase : uint8_t {
  Tailing,    // Reads; may open().
  ReadToEnd,  // Opening: reads to the end as it was when open() was called.
  Fencing,    // Opening: the fence was sent; reads up to it.
  Owning,     // Appends; does not read.
  Settling,   // An append landed past its place: reads past it, then Fenced.
  Stopping,   // stop_owning() was called; on_ended() is on its way.
  Failed,     // For good.
};

}  // namespace

// Every callback that it hands out holds it weakly: after ~Wal nothing runs. Attempts are numbered, so that
// reports of appends of an incarnation that is over are recognised.
class Wal::Impl : public std::enable_shared_from_this<Wal::Impl> {
 public:
  Impl(StreamId stream, std::unique_ptr<Log> log, ReaderState start, Scheduler& scheduler,
       WalListener& listener, WalOptions options)
      : stream_(stream),
        log_(std::move(log)),
        scheduler_(scheduler),
        listener_(listener),
        options_(options),
        state_(start),
        history_{start} {}

  void start() { ask_for_end(); }
  void close() { closed_ = true; }

  void open(MapVersion version, uint64_t nonce) {
    TM_ASSERT(idle());
    ++attempt_;
    phase_ = Phase::ReadToEnd;
    version_ = version;
    nonce_ = nonce;
    own_fence_.reset();
    fence_landed_.reset();
    if (TM_MUTATION("fence before reading to the end")) return send_fence();
    ask_for_end();
  }

  Offset append(RecordKind kind, std::string_view payload);
  bool can_append() const {
    return owning() && !seal_sent_ && in_flight_bytes_ < options_.in_flight_bytes_max;
  }
  bool owning() const { return phase_ == Phase::Owning; }
  bool idle() const { return phase_ == Phase::Tailing; }
  void stop_owning();
  void hold_reading(bool held);
  void trim(Offset begin);
  const ReaderState& state() const { return state_; }
  ReaderState state_at(Offset from) const;
  Log& log() { return *log_; }

 private:
  struct Flight {
    WalRecord record;
    bool delivered = false;
  };

  // Wraps a callback so that it runs only while this is in use, and keeps it alive meanwhile: the listener
  // may destroy the Wal.
  template <typename F>
  auto guarded(F f) {
    return [weak = weak_from_this(), f = std::move(f)](auto&&... arguments) {
      auto self = weak.lock();
      if (self != nullptr && !self->closed_ && self->phase_ != Phase::Failed) {
        f(std::forward<decltype(arguments)>(arguments)...);
      }
    };
  }

  void ask_for_end();
  void on_bounds(const Log::Bounds& bounds);
  void read_on();
  void on_read(std::vector<JudgedRecord> records);
  void check_goals();
  void send_fence();
  void on_fence_sent(Result<Offset, LogFailure> sent);
  void own();
  void on_delivered(Offset expected, const Result<Offset, LogFailure>& delivered);
  void bring_delivered();
  void advance(const ReaderState& state);
  void end(EndReason reason);
  void retry_after(const LogFailure& why, std::function<void()> what);
  void fail(const LogFailure& failure);
  bool opening() const { return phase_ == Phase::ReadToEnd || phase_ == Phase::Fencing; }

  const StreamId stream_;
  const std::unique_ptr<Log> log_;
  Scheduler& scheduler_;
  WalListener& listener_;
  const WalOptions options_;
  bool closed_ = false;

  Phase phase_ = Phase::Tailing;
  uint64_t attempt_ = 0;
  ReaderState state_;
  // The state wherever its fence, version or seal changed; between two of them only `next` moves.
  std::vector<ReaderState> history_;

  std::unique_ptr<StreamReader> reader_;  // None while owning, and until the log's bounds were checked.
  bool reading_ = false;
  bool held_ = false;
  bool would_read_ = false;     // Held, and else it would be reading.
  std::optional<Offset> goal_;  // The durable end as it was when asked for.
  std::optional<Micros> short_since_;
  std::string waiting_for_;

  MapVersion version_;
  uint64_t nonce_ = 0;
  std::optional<Offset> own_fence_;     // Opening: read, and valid.
  std::optional<Offset> fence_landed_;  // Opening: where the store says it lies.

  Offset next_;  // Owning: of the next append.
  std::deque<Flight> flight_;
  size_t in_flight_bytes_ = 0;
  bool seal_sent_ = false;
  Offset settle_past_;
};

// ---- reading ----

void Wal::Impl::ask_for_end() {
  goal_.reset();
  log_->bounds(guarded([this, attempt = attempt_](Result<Log::Bounds, LogFailure> bounds) {
    if (attempt != attempt_) return;
    if (bounds.ok()) return on_bounds(*bounds);
    if (bounds.error().code != LogError::Unavailable) return fail(bounds.error());
    retry_after(bounds.error(), [this, attempt] {
      if (attempt == attempt_) ask_for_end();
    });
  }));
}

void Wal::Impl::on_bounds(const Log::Bounds& bounds) {
  const std::string name = "stream " + stream_name(stream_);
  if (bounds.end < state_.next) {
    const std::string why = name + " ends at offset " + std::to_string(bounds.end.value) +
                            ", before the checkpoint at " + std::to_string(state_.next.value);
    short_since_ = short_since_.value_or(scheduler_.now());
    if (scheduler_.now().value - short_since_->value >= options_.short_log_patience.value) {
      return fail({LogError::Refused, why + ": it was cut or replaced"});
    }
    return retry_after({LogError::Unavailable, why}, [this, attempt = attempt_] {
      if (attempt == attempt_) ask_for_end();
    });
  }
  short_since_.reset();
  if (bounds.begin > state_.next) {
    return fail({LogError::Trimmed, name + " begins at offset " + std::to_string(bounds.begin.value) +
                                        ", after the checkpoint at " + std::to_string(state_.next.value)});
  }
  goal_ = bounds.end;
  check_goals();
}

void Wal::Impl::read_on() {
  if (reading_ || phase_ == Phase::Owning || phase_ == Phase::Failed) return;
  if (phase_ == Phase::Fencing && TM_MUTATION("serves before it has read up to its fence")) return;
  would_read_ = held_ && (phase_ == Phase::Tailing || phase_ == Phase::ReadToEnd);
  if (would_read_) return;
  if (reader_ == nullptr) {
    reader_ = std::make_unique<StreamReader>(stream_, *log_, state_, options_.read_bytes);
  }
  reading_ = true;
  reader_->next(guarded([this](Result<std::vector<JudgedRecord>, LogFailure> read) {
    reading_ = false;
    if (read.ok()) return on_read(std::move(*read));
    if (read.error().code != LogError::Unavailable) return fail(read.error());
    retry_after(read.error(), [this] { read_on(); });
  }));
}

void Wal::Impl::hold_reading(bool held) {
  held_ = held;
  if (!held && would_read_) read_on();
}

void Wal::Impl::on_read(std::vector<JudgedRecord> records) {
  waiting_for_.clear();
  for (const JudgedRecord& judged : records) {
    const RecordHeader& header = judged.record.header;
    if (phase_ == Phase::Fencing && header.kind == RecordKind::Fence && header.nonce == nonce_) {
      if (judged.verdict == Verdict::Valid) own_fence_ = judged.at;
      fence_landed_ = judged.at;
    }
    advance(judged.state);
    if (judged.verdict == Verdict::Valid) {
      listener_.on_record(judged.at, judged.record, judged.state);
      if (closed_) return;
    }
  }
  check_goals();
}

// What the position reached means for the phase, then reads on.
void Wal::Impl::check_goals() {
  const bool at_goal = goal_.has_value() && state_.next >= *goal_;
  if (phase_ == Phase::Tailing && at_goal) {
    const Offset end = *std::exchange(goal_, std::nullopt);
    waiting_for_.clear();
    listener_.on_caught_up(end);
  } else if (opening() && state_.sealed) {
    end(EndReason::Sealed);
  } else if (phase_ == Phase::ReadToEnd && at_goal) {
    if (state_.fence_version > version_) {
      end(EndReason::MapTooOld);
    } else {
      send_fence();
    }
  } else if (phase_ == Phase::Fencing && fence_landed_.has_value() && state_.next > *fence_landed_) {
    // Whatever lies after the own fence before any own append has ended it again.
    if (own_fence_.has_value() && state_.incarnation == own_fence_ &&
        state_.next.value == own_fence_->value + 1 && !TM_BUGGIFY("wal: an opening is given up")) {
      own();
    } else if (own_fence_.has_value()) {
      end(EndReason::Fenced);
    } else {
      end(state_.fence_version > version_ ? EndReason::MapTooOld : EndReason::OutcomeUnknown);
    }
  } else if (phase_ == Phase::Settling && state_.next > settle_past_) {
    end(EndReason::Fenced);
  }
  if (!closed_) read_on();
}

void Wal::Impl::advance(const ReaderState& state) {
  const ReaderState& last = history_.back();
  if (state.incarnation != last.incarnation || state.fence_version != last.fence_version ||
      state.sealed != last.sealed) {
    history_.push_back(state);
  }
  state_ = state;
}

// ---- opening ----

void Wal::Impl::send_fence() {
  phase_ = Phase::Fencing;
  goal_.reset();
  if (TM_MUTATION("serves before it has read up to its fence")) {
    reader_.reset();
    reading_ = false;
  }
  const RecordHeader fence{
      .kind = RecordKind::Fence, .stream = stream_, .map_version = version_, .nonce = nonce_};
  log_->append(encode_record(fence, {}), guarded([this, attempt = attempt_](Result<Offset, LogFailure> sent) {
                 if (attempt == attempt_ && phase_ == Phase::Fencing) on_fence_sent(std::move(sent));
               }));
}

void Wal::Impl::on_fence_sent(Result<Offset, LogFailure> sent) {
  if (sent.ok()) {
    if (TM_MUTATION("serves before it has read up to its fence")) {
      own_fence_ = *sent;
      advance({Offset{sent->value + 1}, *sent, version_, false});
      return own();
    }
    fence_landed_ = fence_landed_.value_or(*sent);
    return check_goals();
  }
  switch (sent.error().code) {
    case LogError::Unavailable:  // Nothing happened: the same fence is sent again, after reading to the end.
      phase_ = Phase::ReadToEnd;
      return retry_after(sent.error(), [this, attempt = attempt_] {
        if (attempt == attempt_) ask_for_end();
      });
    case LogError::OutcomeUnknown: return end(EndReason::OutcomeUnknown);
    case LogError::Trimmed:
    case LogError::Refused: return fail(sent.error());
  }
  TM_UNREACHABLE();
}

void Wal::Impl::own() {
  phase_ = Phase::Owning;
  reader_.reset();
  reading_ = false;
  next_ = state_.next;
  seal_sent_ = false;
  waiting_for_.clear();
  TM_ASSERT(flight_.empty());
  listener_.on_opened(*own_fence_);
}

// ---- owning ----

Offset Wal::Impl::append(RecordKind kind, std::string_view payload) {
  TM_ASSERT(can_append());
  TM_ASSERT(kind != RecordKind::Fence);
  TM_ASSERT(payload.size() <= kWalPayloadBytesMax, payload.size());
  const Offset at = next_;
  ++next_.value;
  seal_sent_ = kind == RecordKind::Seal;
  const RecordHeader header{.kind = kind, .stream = stream_, .incarnation = *own_fence_, .expects = at};
  flight_.push_back({{header, std::string(payload)}});
  in_flight_bytes_ += payload.size();
  log_->append(encode_record(header, payload),
               guarded([this, attempt = attempt_, at](Result<Offset, LogFailure> delivered) {
                 if (attempt == attempt_ && phase_ == Phase::Owning) on_delivered(at, delivered);
               }));
  return at;
}

void Wal::Impl::on_delivered(Offset expected, const Result<Offset, LogFailure>& delivered) {
  if (TM_MUTATION("acknowledged before what was sent earlier") && delivered.ok() && *delivered == expected) {
    for (Flight& flight : flight_) flight.delivered |= flight.record.header.expects <= expected;
    return bring_delivered();
  }
  const bool doubted = TM_MUTATION("goes on after a doubt") && !delivered.ok();
  if (doubted ||
      (delivered.ok() && (*delivered == expected || TM_MUTATION("no offset check by the owner")))) {
    TM_ASSERT(!flight_.empty());
    const size_t index = expected.value - flight_.front().record.header.expects.value;
    TM_ASSERT(index < flight_.size(), index, flight_.size());
    flight_[index].delivered = true;
    return bring_delivered();
  }
  if (delivered.ok() && *delivered > expected) {
    // It lies where it does not count, so the incarnation has ended there at the latest.
    TM_PROBE("wal: an append landed past its place");
    settle_past_ = *delivered;
    phase_ = Phase::Settling;
    flight_.clear();
    in_flight_bytes_ = 0;
    return read_on();
  }
  if (!delivered.ok() && delivered.error().code == LogError::Refused) return fail(delivered.error());
  TM_PROBE("wal: the outcome of an append is unknown");
  end(EndReason::OutcomeUnknown);
}

void Wal::Impl::bring_delivered() {
  while (!closed_ && owning() && !flight_.empty() && flight_.front().delivered) {
    const WalRecord record = std::move(flight_.front().record);
    flight_.pop_front();
    in_flight_bytes_ -= record.payload.size();
    ReaderRule rule(stream_, state_);
    const auto verdict = rule.step(record.header);
    TM_ASSERT(verdict.ok() && *verdict == Verdict::Valid);
    const Offset at = state_.next;
    advance(rule.state());
    listener_.on_record(at, record, state_);
  }
  if (!closed_ && owning() && state_.sealed) end(EndReason::Sealed);
}

void Wal::Impl::stop_owning() {
  if (idle() || phase_ == Phase::Failed || phase_ == Phase::Stopping) return;
  phase_ = Phase::Stopping;
  scheduler_.post(guarded([this] {
    if (phase_ == Phase::Stopping) end(EndReason::Stopped);
  }));
}

// Back to tailing, from wherever; the one way out of an attempt.
void Wal::Impl::end(EndReason reason) {
  ++attempt_;
  phase_ = Phase::Tailing;
  flight_.clear();
  in_flight_bytes_ = 0;
  listener_.on_ended(reason);
  if (closed_) return;
  if (phase_ == Phase::Tailing) ask_for_end();
  read_on();
}

// ---- the rest ----

void Wal::Impl::trim(Offset begin) {
  TM_ASSERT(begin <= state_.next, begin, state_.next);
  while (history_.size() > 1 && history_[1].next <= begin) history_.erase(history_.begin());
  log_->trim(begin, guarded([this](Result<void, LogFailure> trimmed) {
               if (!trimmed.ok()) listener_.on_waiting(trimmed.error());
             }));
}

ReaderState Wal::Impl::state_at(Offset from) const {
  TM_ASSERT(history_.front().next <= from, history_.front().next, from);
  TM_ASSERT(from <= state_.next, from, state_.next);
  auto after = std::upper_bound(history_.begin(), history_.end(), from,
                                [](Offset offset, const ReaderState& state) { return offset < state.next; });
  ReaderState state = *std::prev(after);
  state.next = from;
  return state;
}

void Wal::Impl::retry_after(const LogFailure& why, std::function<void()> what) {
  scheduler_.post_after(options_.retry_delay, guarded(std::move(what)));
  if (why.message == waiting_for_) return;
  waiting_for_ = why.message;
  listener_.on_waiting(why);
}

void Wal::Impl::fail(const LogFailure& failure) {
  const bool was_idle = idle();
  ++attempt_;
  phase_ = Phase::Failed;
  reader_.reset();
  if (!was_idle) listener_.on_ended(EndReason::OutcomeUnknown);
  if (!closed_) listener_.on_failed(failure);
}

Wal::Wal(StreamId stream, std::unique_ptr<Log> log, ReaderState start, Scheduler& scheduler,
         WalListener& listener, WalOptions options)
    : impl_(std::make_shared<Impl>(stream, std::move(log), start, scheduler, listener, options)) {
  impl_->start();
}
Wal::~Wal() {
  impl_->close();
}

void Wal::open(MapVersion version, uint64_t nonce) {
  impl_->open(version, nonce);
}
Offset Wal::append(RecordKind kind, std::string_view payload) {
  return impl_->append(kind, payload);
}
bool Wal::can_append() const {
  return impl_->can_append();
}
bool Wal::owning() const {
  return impl_->owning();
}
bool Wal::idle() const {
  return impl_->idle();
}
void Wal::stop_owning() {
  impl_->stop_owning();
}
void Wal::hold_reading(bool held) {
  impl_->hold_reading(held);
}
void Wal::trim(Offset begin) {
  impl_->trim(begin);
}
const ReaderState& Wal::state() const {
  return impl_->state();
}
ReaderState Wal::state_at(Offset from) const {
  return impl_->state_at(from);
}
Log& Wal::log() {
  return impl_->log();
}

}  // namespace tidemark
