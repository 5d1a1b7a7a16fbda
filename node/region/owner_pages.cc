// Pages: of a new view's rows (DESIGN "Backfill") and of joins with many matches (DESIGN "Joins").
#include <string>
#include <utility>

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
    pb::RecordBody body;
    pb::BackfillPage& page = *body.mutable_backfill_page();
    page.set_view(id.value);
    page.set_cursor(backfill.cursor);
    page.set_last(fill_page(*view, *page.mutable_cursor(), *page.mutable_changes()));
    last_page_ = append_control(std::move(body));
    return;
  }
}

bool RegionOwner::fill_page(const Table& view, std::string& cursor, std::string& changes) {
  HashSpan hashes = hash_span(identity().shards, identity().shard_count);
  std::string last = cursor;
  DecodedStoreKey from = decode_store_key(last).value_or(DecodedStoreKey{});
  for (TableId source : view.backfill_sources) {
    if (source < from.table) continue;
    // After a split the cursor may lie before the child's shards, or behind them.
    bool inside = source == from.table && from.hash >= hashes.first;
    AheadCursor rows =
        inside ? rows_.scan(source, from.hash, from.key) : rows_.scan(source, hashes.first, std::nullopt);
    for (; rows.valid() && rows.hash() <= hashes.last; rows.next()) {
      if (changes.size() >= options_.page_bytes_max) return false;
      Change change;
      change.table = source;
      change.hash = rows.hash();
      change.key = rows.key();
      change.after = rows.row();
      append_change(changes, change);
      cursor = encode_store_key(source, rows.hash(), rows.key());
    }
  }
  return true;
}

}  // namespace tidemark
