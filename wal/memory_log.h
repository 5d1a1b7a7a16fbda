// Logs in memory, for tests and the simulation: as good as Kafka or a disk, or as bad as they can be. Every
// fault has a probability, drawn from a seeded source, and a counter.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/scheduler.h"
#include "wal/log.h"

namespace tidemark {

enum class MemoryLogKind : uint8_t {
  Kafka,  // Many processes; each one's appends land in order, late appends of the dead included.
  Disk,   // One process; what was not synced may be lost by a crash.
};

// Probabilities per append, except where said otherwise. All zero: a faultless store.
struct MemoryLogFaults {
  double late = 0;                // Kafka: reported unknown, lands much later: after a fence, if one comes.
  double late_fence = 0;          // Kafka: the same, of a fence, beside that.
  double unknown = 0;             // Lands, but its outcome is reported unknown.
  double no_offset = 0;           // Kafka: lands, acknowledged without an offset.
  double duplicate = 0;           // Kafka: a second copy lands a little later.
  double duplicate_reported = 0;  // Kafka: the same, and the report tells the offset of the copy.
  double lost = 0;                // Kafka: never lands, those after it do; reported unknown.
  double full = 0;                // Disk: no room; nothing happened.
  double unavailable = 0;         // Per read or question: no answer from the store.
  double refused = 0;             // Kafka, per opening: a broker that has not heard of the topic.
  double torn = 0.5;              // Disk, per crash with unsynced entries: the first lost one is half there.

  Micros append_delay_max{2'000};
  Micros late_delay_max{5'000'000};
  Micros read_delay_max{500};
};

struct MemoryLogCounters {
  uint64_t appends = 0;
  uint64_t largest_append_bytes = 0;
  uint64_t late = 0;
  uint64_t unknown = 0;
  uint64_t no_offset = 0;
  uint64_t duplicate = 0;
  uint64_t duplicate_reported = 0;
  uint64_t lost = 0;
  uint64_t full = 0;
  uint64_t unavailable = 0;
  uint64_t refused = 0;
  uint64_t crash_kept = 0;  // Entries not synced that a crash left there.
  uint64_t crash_lost = 0;
  uint64_t torn = 0;
};

// Told of what happens to the logs, at once, whoever did it. For checkers; must not call back.
class MemoryLogObserver {
 public:
  virtual ~MemoryLogObserver() = default;
  virtual void on_durable(StreamId stream, Offset at, const std::string& bytes) = 0;  // In order.
  virtual void on_trimmed(StreamId stream, Offset begin) = 0;
  virtual void on_removed(StreamId stream) = 0;
};

// What outlives processes: the brokers, or the disk. Runs on the world's scheduler.
class MemoryLogs {
 public:
  // REQUIRES: `world` outlives it, and it outlives the stores made of it.
  MemoryLogs(MemoryLogKind kind, Scheduler& world, Random random, MemoryLogFaults faults = {});
  ~MemoryLogs();
  MemoryLogs(const MemoryLogs&) = delete;
  MemoryLogs& operator=(const MemoryLogs&) = delete;

  void set_faults(const MemoryLogFaults& faults);
  void set_observer(MemoryLogObserver* observer);  // nullptr: none. Must outlive the logs.
  // While it is not there, appends wait and questions fail.
  void set_available(bool available);
  // Disk: the machine stops. Of what was not synced a prefix stays. The stores of the dead process are
  // destroyed by the caller first.
  void crash();

  const MemoryLogCounters& counters() const;
  // What lies in the log, durable or not, from its first offset on; empty if there is no such stream.
  std::vector<LogEntry> entries(StreamId stream) const;

  // One process's connection; callbacks run on its scheduler. Destroying it is the death of the process:
  // what it sent may still land.
  std::unique_ptr<LogStore> connect(Scheduler& process);

  class Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark
