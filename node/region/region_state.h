// What a region is as a function of its log: every reader of the stream (owner, standby) that has applied the
// same records has the same state. Rows are not in it: they lie in a RowStore, which apply() writes.
// Deterministic; a value, cheap to copy but for its sessions.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/lane_runs.h"
#include "base/result.h"
#include "base/types.h"
#include "node/region/notable_offsets.h"
#include "node/region/parts.h"
#include "node/region/session_table.h"
#include "node/region/table.h"
#include "node/row_store.h"
#include "proto/log.pb.h"
#include "proto/node.pb.h"
#include "wal/reader_rule.h"
#include "wal/record.h"

namespace tidemark {

struct RegionIdentity {
  RegionId region;
  ShardRange shards;
  Generation generation;
  ShardCount shard_count;
  bool operator==(const RegionIdentity&) const = default;
};

// A ring version and the position after its cut, per lane.
struct CutPoint {
  RingVersion ring;
  LaneRuns at;
};

// The pages of one view in one region.
struct Backfill {
  std::string cursor;  // Encoded store key of the last row paged; empty: none yet.
  bool done = false;
  LaneRuns ended;  // Done: the position after the last page.
};

// By the two tables (the lower id first) and the join key: operations on it wait.
using JoinKey = std::pair<TableId, std::string>;
JoinKey join_key_of(const TableCatalog& catalog, TableId side, std::string_view join_key);

// A valid record with its payload decoded. A fence has none.
struct DecodedRecord {
  Offset at;
  RecordKind kind = RecordKind::Body;
  std::shared_ptr<const pb::RecordBody> body;  // Body.
  std::shared_ptr<const pb::Seal> seal;        // Seal.
};
// Error: malformed; the stream must be refused.
Result<DecodedRecord> decode_payload(Offset at, const WalRecord& record);

class RegionState {
 public:
  explicit RegionState(const RegionIdentity& identity);

  // ---- what it is

  const RegionIdentity& identity() const { return identity_; }
  const ReaderState& reader() const { return reader_; }  // After the last record applied.
  Position end() const { return {identity_.generation, reader_.next, 0}; }
  const Parts& parts() const { return parts_; }
  const LaneRuns& committed() const { return committed_; }
  const TableCatalog& catalog() const { return catalog_; }
  const SessionTable& sessions() const { return sessions_; }
  const std::map<TableId, Backfill>& backfills() const { return backfills_; }
  const std::map<JoinKey, pb::PendingJoin>& pending_joins() const { return pending_joins_; }
  std::optional<ChangeId> merging() const { return merging_; }
  const std::set<ChangeId>& unmerged() const { return unmerged_; }
  const std::optional<pb::Seal>& seal() const { return seal_; }

  RingVersion ring() const { return cuts_.back().ring; }
  // All lanes have committed past this ring's cut (and all lower).
  RingVersion ring_acknowledged() const { return cuts_.front().ring; }
  // The ring in force at a position of a lane that is not below its committed one.
  RingVersion ring_at(ShardId lane, Position position) const;
  // Where the lane's newest cut lies; zero if there was none.
  Position last_cut(ShardId lane) const { return cuts_.back().at.at(lane); }

  // The position after the last change: progress up to it is sure to be recorded.
  Position last_change() const { return {identity_.generation, last_change_, 0}; }
  // Would recording that the lanes have committed this far pass a change, a marker, a seal or the end of a
  // backfill? Else it is not worth a record, so that a quiet system is silent.
  bool is_worth_recording(ShardRange lanes, Position committed) const;
  // The lowest offset of this stream that some lane still needs.
  Offset committed_floor() const;
  // How many records there are from the first one on that a lane has still to commit past, and is told when
  // it has. Those that nobody tells of would count for ever.
  uint64_t records_behind() const;
  // Views whose last page some lane has not committed past, or that have not begun.
  std::vector<TableId> backfilling() const;
  bool all_backfilled() const;  // Every view has begun, and its last page is written.
  // All lanes have committed past the seals of the streams that this one came from.
  bool committed_past_parents() const;

  // ---- how it changes

  // Applies a valid record. `after` is the reader's state after it.
  // Error: a body that this version does not know; the stream must be refused.
  Status apply(const DecodedRecord& record, const ReaderState& after, RowStore& rows);

  // The children of a sealed region, and the child of two. The rows need no touching.
  // REQUIRES: sealed, with this child. merge: `low` ends where `high` begins.
  static RegionState split_child(const RegionState& parent, RegionId child);
  static RegionState merge_child(const RegionState& low, const RegionState& high, RegionId child);

  // ---- checkpoints

  pb::RegionSnapshot to_snapshot() const;
  static Result<RegionState> from_snapshot(const pb::RegionSnapshot& snapshot);
  // Of everything but the rows. Equal for equal states.
  uint64_t hash() const;

 private:
  friend class RegionOwner;  // Its copy runs ahead of the log, piece by piece as a commit is put together.

  Status apply_body(Offset at, const pb::RecordBody& body, RowStore& rows);
  void apply_batch(const pb::AppliedBatch& batch);
  void apply_pending_join(const pb::PendingJoin& pending);
  Status apply_control(Offset at, const pb::RecordBody& body);
  void apply_progress(const pb::Progress& progress);
  void apply_cut(Offset at, RingVersion ring);
  Status apply_catalog(const pb::CatalogChange& change, std::vector<TableId>& dropped);
  void apply_page(Offset at, const pb::BackfillPage& page);
  void apply_join_page(Offset at, const pb::JoinPage& page);
  void note_change(Offset at);
  RegionState child_of(const RegionIdentity& identity) const;
  void forget_passed();

  RegionIdentity identity_;
  ReaderState reader_;
  Offset last_change_;
  NotableOffsets notable_;
  Parts parts_;
  LaneRuns committed_;
  std::vector<CutPoint> cuts_;  // Never empty; all lanes have committed past the first.
  TableCatalog catalog_;
  std::map<TableId, Backfill> backfills_;
  std::map<JoinKey, pb::PendingJoin> pending_joins_;
  SessionTable sessions_;
  std::optional<ChangeId> merging_;
  std::set<ChangeId> unmerged_;
  std::optional<pb::Seal> seal_;
};

}  // namespace tidemark
