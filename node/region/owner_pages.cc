// Pages: of a new view's rows, and of joins with many matches: docs/design.md, "Backfill", "Joins".
#include <string>
#include <utility>

#include "base/probe.h"
#include "node/region/owner.h"
#include "node/store/store_key.h"
#include "proto/change.h"

namespace tidemark {

void RegionOwner::write_join_pages() {
  while (!ahead_.pending_joins().empty() && queue_.size() < options_.in_flight_records_max) {
    pb::RecordBody body;
    pb::JoinPage& page = *body.mutable_join_page();
    *page.mutable_next() = ahead_.pending_joins().begin()->second;
    page.set_last(!maker_.next_join_page(*page.mutable_next(), *page.mutable_changes()));
    append_control(std::move(body));
  }
}

void RegionOwner::write_backfill_page() {
  bool last_is_durable = !last_page_ || *last_page_ < durable_.reader().next;
  if (inputs_.held_back || !last_is_durable || !queue_.has_room()) return;
  for (const auto& [id, backfill] : ahead_.backfills()) {
    const Table* view = ahead_.catalog().find(id);
    if (backfill.done || view == nullptr) continue;
    std::optional<Micros> due = page_due(*view);
    if (!due) TM_PROBE("region: a backfill is paused");
    if (due && *due > inputs_.now) TM_PROBE("region: a page waits for its time");
    if (!due || *due > inputs_.now) continue;  // It holds up no other view.
    pb::RecordBody body;
    pb::BackfillPage& page = *body.mutable_backfill_page();
    page.set_view(id.value);
    page.set_cursor(backfill.cursor);
    uint64_t rows = 0;
    page.set_last(fill_page(*view, pace_of(*view).page_rows_max(), page, rows));
    note_page(*view, rows);
    last_page_ = append_control(std::move(body));
    return;
  }
}

bool RegionOwner::fill_page(const Table& view, uint64_t rows_max, pb::BackfillPage& page, uint64_t& rows) {
  HashSpan hashes = hash_span(identity().shards, identity().shard_count);
  std::string last = page.cursor();
  DecodedStoreKey from = decode_store_key(last).value_or(DecodedStoreKey{});
  for (TableId source : view.backfill_sources) {
    if (source < from.table) continue;
    // After a split the cursor may lie before the child's shards, or behind them.
    bool inside = source == from.table && from.hash >= hashes.first;
    AheadCursor found =
        inside ? rows_.scan(source, from.hash, from.key) : rows_.scan(source, hashes.first, std::nullopt);
    for (; found.valid() && found.hash() <= hashes.last; found.next()) {
      if (page.changes().size() >= options_.page_bytes_max || rows == rows_max) return false;
      Change change;
      change.table = source;
      change.hash = found.hash();
      change.key = found.key();
      change.after = found.row();
      append_change(*page.mutable_changes(), change);
      page.set_cursor(encode_store_key(source, found.hash(), found.key()));
      ++rows;
    }
  }
  return true;
}

// As of the log: a successor goes on at the same pace.
BackfillPace RegionOwner::pace_of(const Table& view) const {
  return {*view.definition, identity().shards, identity().shard_count};
}

std::optional<Micros> RegionOwner::page_due(const Table& view) const {
  BackfillPace pace = pace_of(view);
  if (pace.is_paused()) return std::nullopt;
  auto last = paced_pages_.find(view.id);
  if (last == paced_pages_.end()) return inputs_.now;
  return Micros{last->second.written_at.value + pace.time_for(last->second.rows).value};
}

void RegionOwner::note_page(const Table& view, uint64_t rows) {
  std::erase_if(paced_pages_, [&](const auto& it) { return !ahead_.backfills().contains(it.first); });
  if (pace_of(view).is_limited()) paced_pages_[view.id] = {inputs_.now, rows};
}

std::optional<Micros> RegionOwner::next_page_due() const {
  std::optional<Micros> out;
  for (const auto& [id, page] : paced_pages_) {
    auto backfill = ahead_.backfills().find(id);
    const Table* view = ahead_.catalog().find(id);
    if (backfill == ahead_.backfills().end() || backfill->second.done || view == nullptr) continue;
    std::optional<Micros> due = page_due(*view);
    // What is due already waits for something else, whose coming brings a tick.
    if (due && *due > inputs_.now && (!out || *due < *out)) out = due;
  }
  return out;
}

}  // namespace tidemark
