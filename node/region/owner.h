// All that lives only as long as an incarnation of a region's owner: what runs ahead of the log, what is in
// flight, and who waits for it. Internal to node/region: Region is the contract.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/region/ahead_rows.h"
#include "node/region/backfill_pace.h"
#include "node/region/change_maker.h"
#include "node/region/commit_queue.h"
#include "node/region/overlay.h"
#include "node/region/region.h"
#include "node/region/replies.h"
#include "proto/convert.h"
#include "proto/operation.h"

namespace tidemark {

// A read that waits until the region reflects tokens.
struct TokenWait {
  Asker asker;
  std::vector<LaneRun> tokens;
  bool pass_on = false;
  Micros heard_at;                 // When the asker last asked.
  std::optional<Micros> asked_at;  // The owners of the lanes.
};

// Another region that waits until lanes of this one have committed.
struct CommittedWait {
  Asker asker;
  std::vector<LaneRun> wanted;
  Micros heard_at;
};

class RegionOwner {
 public:
  // REQUIRES: all outlive it.
  RegionOwner(const RegionState& durable, RowStore& rows, RowArithmetic& arithmetic,
              const RegionOptions& options, const RegionInputs& inputs, Offset incarnation,
              MapVersion version);

  Offset incarnation() const { return incarnation_; }
  bool serves() const { return !ahead_.seal().has_value(); }  // A seal, even in flight, ends serving.

  // The next of our own records, which has become durable.
  std::optional<DecodedRecord> take_durable(Offset at) { return queue_.take_durable(at); }
  // It was applied to the durable state.
  void on_applied(Offset at, RegionCommands& out);
  void give_up(RegionCommands& out);

  void on_write(const Asker& asker, const pb::WriteRequest& request, RegionCommands& out);
  void on_open_session(const Asker& asker, const pb::OpenSessionRequest& request, RegionCommands& out);
  void on_effects(const Asker& asker, const pb::EffectBatch& batch, RegionCommands& out);
  void on_positions(const Asker& asker, RegionCommands& out);
  void on_wait(const Asker& asker, const pb::WaitRequest& request, RegionCommands& out);
  void on_committed_request(const Asker& asker, const pb::CommittedRequest& request, RegionCommands& out);
  void on_committed_report(const std::vector<LaneRun>& lanes);
  void on_committed_positions(const std::vector<LaneRun>& lanes);

  void on_tick(RegionCommands& out);
  std::optional<Micros> next_tick() const;
  size_t rows_in_flight() const { return overlay_.size(); }
  Position reported_floor() const { return reported_.lowest(identity().shards); }

 private:
  const RegionIdentity& identity() const { return durable_.identity(); }
  pb::Message refuse(pb::RefusalCode code, std::string text) const {
    return refusal(code, std::move(text), identity().region);
  }
  // Answers once all that was told of so far is durable.
  void answer(const Asker& asker, pb::Message message, RegionCommands& out) {
    held_.hold(queue_.last(), asker, std::move(message), out);
  }

  // ---- records (owner.cc)
  void close_commit();
  // Takes the maker's changes into the open commit; returns it to have marks added. `more`: their size.
  pb::Commit& commit_changes(size_t more);
  // The position after the last change, what is in flight included.
  Position last_change() const;
  Offset append_control(pb::RecordBody body);
  bool is_overloaded() const {
    return queue_.unsent_bytes() > options_.in_flight_bytes_max || held_.size() >= options_.answers_max;
  }
  void prove_ownership();

  // ---- requests (owner_requests.cc)
  // Each gives the refusal, if there is one.
  std::optional<pb::Message> read_operations(const pb::WriteRequest& request);
  std::optional<pb::Message> look_up(const pb::WriteRequest& request);
  std::optional<pb::Message> check_operation(const Operation& operation) const;
  // Those not done before. A failure leaves nothing behind.
  struct Failure {
    size_t operation;
    const char* text;
  };
  std::optional<Failure> execute();
  void prefetch_operations(size_t from);
  const char* execute_one(const Operation& operation, uint32_t& rows);
  void mark(const pb::WriteRequest& request);
  pb::Message write_reply();
  void add_tokens(PbLaneRuns& tokens) const;
  bool make_room_for_session();

  // ---- effects (owner_effects.cc)
  bool lacks_positions() const;
  bool read_lanes(const pb::EffectBatch& batch);
  EffectOutcome apply_effects(const pb::EffectBatch& batch);
  void advance(const pb::EffectBatch& batch);
  pb::Message effect_answer(pb::EffectAnswer::Verdict verdict, const pb::EffectBatch* batch) const;

  // ---- facts (owner_control.cc)
  void follow_facts(RegionCommands& out);
  void follow_change(RegionCommands& out);
  void seal(const pb::RegionChange& change);
  void follow_catalog_and_ring();

  // ---- pages (owner_pages.cc)
  void write_join_pages();
  // Of the first view whose pace allows one now.
  void write_backfill_page();
  // Adds rows after the cursor. True: those were the last.
  bool fill_page(const Table& view, uint64_t rows_max, pb::BackfillPage& page, uint64_t& rows);
  BackfillPace pace_of(const Table& view) const;
  // When the view's next page may be written. None: not before the catalog says otherwise.
  std::optional<Micros> page_due(const Table& view) const;
  void note_page(const Table& view, uint64_t rows);
  // The next time at which a page that waits for its time is due.
  std::optional<Micros> next_page_due() const;

  // ---- progress and tokens (owner_progress.cc)
  void record_progress(RegionCommands& out);
  bool is_progress_awaited() const;
  void serve_waits(RegionCommands& out);
  bool serve(TokenWait& wait, std::vector<LaneRun>& ask, RegionCommands& out);
  void serve_committed_waits(RegionCommands& out);
  void unite_parts(bool has_news, RegionCommands& out);
  void serve_those_who_wait(RegionCommands& out);
  void forget_the_gone();
  bool is_ask_due(const TokenWait& wait) const;
  void add_outside(const LaneRun& run, std::vector<LaneRun>& out) const;
  void raise(const std::vector<LaneRun>& committed);
  bool is_recorded(const LaneRun& wanted) const;

  const RegionState& durable_;
  const RegionOptions& options_;
  const RegionInputs& inputs_;
  Offset incarnation_;
  MapVersion version_;

  RegionState ahead_;  // With everything that is in flight or in the open commit.
  Overlay overlay_;
  AheadRows rows_;
  ChangeMaker maker_;
  CommitQueue queue_;
  HeldReplies held_;

  LaneRuns reported_;         // By view managers: committed, maybe not recorded.
  bool has_reports_ = false;  // Since progress was last looked at.
  Micros progress_at_;
  LaneRuns recorded_;  // Recorded committed positions of any lanes: this region's, and others' as told.
  std::vector<TokenWait> waits_;
  std::vector<CommittedWait> committed_waits_;
  bool has_news_ = false;  // For those who wait: something was applied, or told.
  std::optional<Micros> unify_asked_at_;
  bool refence_asked_ = false;
  std::optional<Offset> last_page_;  // Of a backfill.
  // The last page of each view whose pace is limited. Not kept: a new incarnation may begin with a page.
  struct PacedPage {
    Micros written_at;
    uint64_t rows = 0;
  };
  std::map<TableId, PacedPage> paced_pages_;
  std::map<SessionKey, Micros> session_used_;
  Micros opened_at_;

  std::vector<Operation> operations_;  // Of the present request; reused.
  std::array<RowAddress, kPrefetchRows> places_;
  std::vector<OperationOutcome> found_;
  std::vector<uint32_t> rows_affected_;
  std::vector<ShardId> shards_;
  std::string outcome_;
  std::vector<LaneMove> lanes_;  // Of the present batch; reused.
};

}  // namespace tidemark
