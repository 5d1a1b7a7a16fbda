// A replica of a region: tails its stream and, while it owns it, turns requests, effect batches and facts
// into records. Event in, commands out; deterministic; no clock, thread, socket or random number. Lives on
// one worker. The driver connects it to a Wal (node/), a transport and the facts.
//
//   Tailing --on_opened--> Owning --on_ended--> Tailing
//
// Durable before visible: reads see applied records only; answers to writes and to batches are held until the
// record that they tell of, and all before it, are durable. When the incarnation ends before, the answers
// become OUTCOME_UNKNOWN and what was in flight is forgotten: if it counts after all, on_record() brings it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lane_runs.h"
#include "base/result.h"
#include "base/row_limits.h"
#include "base/types.h"
#include "node/region/commands.h"
#include "node/region/facts.h"
#include "node/region/region_state.h"
#include "node/region/row_arithmetic.h"
#include "node/row_store.h"
#include "proto/messages.pb.h"
#include "proto/operation.h"

namespace tidemark {

struct RegionOptions {
  size_t record_bytes_max = 900'000;
  size_t row_bytes_max = kRowBytesMax;
  size_t in_flight_bytes_max = size_t{8} << 20;  // As the Wal's.
  size_t in_flight_records_max = 8;
  Micros commit_delay{2'000};  // How long a commit may grow while another is in flight.
  size_t sessions_max = 10'000;
  Micros session_idle{600'000'000};    // When there are too many, sessions unused for so long are expired.
  size_t page_bytes_max = 256 * 1024;  // Of backfill pages; those of joins have half, beside the row itself.
  size_t join_page_matches_max = 1'000;
  Micros progress_interval{50'000};  // Committed positions are recorded at most so often, if nobody waits.
  Micros unify_interval{1'000'000};  // A region in parts asks for committed positions so often.
  Micros ask_interval{1'000'000};    // Owners of lanes that a read waits for are asked again so often.
  Micros waiter_idle{10'000'000};    // Who waits asks again and again; who has not for so long is gone.
  size_t answers_max = 100'000;      // Held until the log has what they tell of; beyond that no writes.
  size_t waiters_max = 10'000;       // Reads that wait for tokens, and regions that wait for progress.
};

class RegionOwner;

class Region {
 public:
  // REQUIRES: rows and arithmetic outlive the region.
  Region(RegionState state, RowStore& rows, RowArithmetic& arithmetic, RegionOptions options = {});
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // ---- the log (WalListener)

  // Every valid record, read or one's own once it is durable.
  // Error: this version does not know the record; the stream must be refused.
  Status on_record(Offset at, const WalRecord& record, const ReaderState& after, RegionCommands& out);
  // The fence at `incarnation`, written under `version`, is in force, and all before it was delivered.
  void on_opened(Offset incarnation, MapVersion version, RegionCommands& out);
  void on_ended(RegionCommands& out);

  // ---- messages; each is answered, at once or later, and refused where this replica does not own the region

  void on_write(const Asker& asker, const pb::WriteRequest& request, RegionCommands& out);
  void on_open_session(const Asker& asker, const pb::OpenSessionRequest& request, RegionCommands& out);
  void on_get(const Asker& asker, const pb::GetRequest& request, RegionCommands& out);
  void on_scan(const Asker& asker, const pb::ScanRequest& request, RegionCommands& out);
  void on_wait(const Asker& asker, const pb::WaitRequest& request, RegionCommands& out);
  void on_effects(const Asker& asker, const pb::EffectBatch& batch, RegionCommands& out);
  void on_positions(const Asker& asker, RegionCommands& out);
  void on_committed_request(const Asker& asker, const pb::CommittedRequest& request, RegionCommands& out);

  // Not answered. `report`: a view manager's; of lanes of this region, whichever stream they were queued
  // from.
  void on_committed_report(const std::vector<LaneRun>& lanes, RegionCommands& out);
  // Recorded committed positions of any lanes, as their owners told.
  void on_committed_positions(const std::vector<LaneRun>& lanes, RegionCommands& out);

  // ---- facts, in any order, any number of times; older ones are ignored

  void on_facts(const RegionFacts& facts, RegionCommands& out);
  void on_catalog(std::shared_ptr<const pb::Catalog> catalog, RegionCommands& out);
  void on_ring(RingVersion version, RegionCommands& out);

  // Views lag: no backfill pages, and client writes are refused as overloaded.
  void hold_back(bool held) { inputs_.held_back = held; }

  // ---- time

  // To be called at the end of each turn of the loop that had events for the region, and at next_tick().
  void on_tick(Micros now, RegionCommands& out);
  // Stamps records, for freshness figures; nothing is decided by it. Machines agree on it more or less.
  void set_time_of_day(int64_t micros) { inputs_.time_of_day_micros = micros; }
  // None: nothing waits for time.
  std::optional<Micros> next_tick() const;

  // ---- what it is

  const RegionState& state() const { return durable_; }  // As of the last record applied.
  bool owning() const { return owner_ != nullptr; }
  // Rows that run ahead of the log, in memory only.
  size_t rows_in_flight() const;
  // Without figures of queues, checkpoints and membership, which are the node's.
  pb::RegionStatus status() const;

 private:
  // Null, and refused, unless this replica owns the region and it is not sealed.
  RegionOwner* serving(const Asker& asker, RegionCommands& out);
  bool can_read(const Asker& asker, const pb::Position& seen, RegionCommands& out);  // Else it is refused.
  std::optional<pb::Message> check_place(TableId table, uint64_t hash) const;

  RegionState durable_;
  RowStore& rows_;
  RowArithmetic& arithmetic_;
  RegionOptions options_;
  std::unique_ptr<RegionOwner> owner_;  // While owning.
  RegionInputs inputs_;
};

}  // namespace tidemark
