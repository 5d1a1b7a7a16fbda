// One replica's end of a WAL stream: it tails the stream and, where the replica is the owner, opens an
// incarnation by a fence and appends. Lives on the region's worker; not thread-safe.
//
//   Tailing --open()--> Opening --own fence read--> Owning --any doubt--> Tailing
//
// There is one recovery path: whatever goes wrong with an append (an error, a gap, an offset other than the
// expected one, a lost report), the incarnation ends, on_ended() is called, and the truth is read from the
// log like any other reader does. Opening again settles what was in flight: what on_record() did not bring
// before on_opened() never counts. While it owns, a replica does not read its log: it knows what it wrote.
#pragma once

#include <memory>
#include <string>

#include "base/scheduler.h"
#include "wal/log.h"
#include "wal/reader_rule.h"
#include "wal/record.h"

namespace tidemark {

enum class EndReason : uint8_t {
  Fenced,  // Another writes to the stream. Settled: what counts of what was in flight has been brought
           // by on_record(), the rest never will. Look at the region map before opening again.
  OutcomeUnknown,  // What was in flight may or may not count: reading decides.
  Stopped,         // stop_owning() was called.
  Sealed,          // The stream is sealed.
  MapTooOld,       // open(): the stream has a fence of a newer region map.
};

// Called on the worker's loop, never from inside a call of Wal. Any of these may call the Wal, or destroy it.
class WalListener {
 public:
  virtual ~WalListener() = default;

  // Every valid body, fence and seal, in order, exactly once per Wal: read from the log, or one's own
  // append once it is durable. `state` is the reader's state after it.
  virtual void on_record(Offset at, const WalRecord& record, const ReaderState& state) = 0;

  // All valid records before the fence at `incarnation` have been delivered; append() may be called.
  virtual void on_opened(Offset incarnation) = 0;

  // The incarnation, or the attempt to open, is over. No append of it is called back any more; those that
  // count after all come by on_record().
  virtual void on_ended(EndReason reason) = 0;

  // The tail has reached the durable end as it was when the tailing began (after the start, and after every
  // on_ended()); a standby is up to date.
  virtual void on_caught_up(Offset end) = 0;

  // The stream can not be used (Refused, Trimmed). Final: the Wal does nothing more. If it was opening or
  // owning, on_ended(OutcomeUnknown) comes first.
  virtual void on_failed(const LogFailure& failure) = 0;

  // The Wal waits for its store and tries again every retry_delay: why, for people. Said again when the
  // reason changes.
  virtual void on_waiting(const LogFailure& why) = 0;
};

constexpr size_t kWalPayloadBytesMax = kLogEntryBytesMax - kRecordHeaderBytes;

struct WalOptions {
  size_t in_flight_bytes_max = size_t{8} << 20;
  size_t read_bytes = size_t{1} << 20;
  Micros retry_delay{50'000};  // After Unavailable.
  // How long a log may seem to end before the place that this Wal has reached. A Kafka broker that was paused
  // or has just become the leader may say so for a while.
  Micros short_log_patience{30'000'000};
};

class Wal {
 public:
  // Tails `log` from `start` (a checkpoint's state, or the default for the beginning).
  // REQUIRES: listener, scheduler outlive the Wal.
  Wal(StreamId stream, std::unique_ptr<Log> log, ReaderState start, Scheduler& scheduler,
      WalListener& listener, WalOptions options = {});
  ~Wal();
  Wal(const Wal&) = delete;
  Wal& operator=(const Wal&) = delete;

  // Reads to the end, appends a fence, reads up to it; then on_opened(), or on_ended().
  // `nonce` must be unique to this attempt. REQUIRES: idle().
  void open(MapVersion version, uint64_t nonce);

  // Appends to the stream at the returned offset, if it will count at all. on_record() follows once it is
  // durable and all before it are. Nothing can be appended after a seal.
  // REQUIRES: can_append(); the kind is not Fence; the payload is within kWalPayloadBytesMax.
  Offset append(RecordKind kind, std::string_view payload);

  // False unless owning, and while in_flight_bytes_max are in flight: the caller groups more into the next
  // record. Worth asking again in every on_record().
  bool can_append() const;
  bool owning() const;
  bool idle() const;  // Neither opening nor owning, and every on_ended() was called.

  // Gives up the incarnation or the attempt: on_ended(Stopped) follows. Late appends may still land and
  // count. Without effect if idle().
  void stop_owning();

  // While held, the log is not read, but for what was asked for before and up to one's own fence: nobody has
  // room for more records. An open() waits meanwhile.
  void hold_reading(bool held);

  // Discards the log before `begin`; a hint, to be repeated if it fails.
  // REQUIRES: begin is at or before state().next.
  void trim(Offset begin);

  // Where the reader stands: after the last record that on_record() could bring.
  const ReaderState& state() const;

  // With which state to read the same stream from `from`, for queues that fell behind. Exact: the fence in
  // force at that offset. REQUIRES: from lies between this Wal's start, or its last trim, and state().next.
  ReaderState state_at(Offset from) const;
  Log& log();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark
