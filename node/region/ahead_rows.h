// The rows as a region computes changes against: those of the store, with those in flight over them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/region/overlay.h"
#include "node/row_store.h"

namespace tidemark {

// Rows of one table in the order of (hash, key), or the reverse. Invalid once anything is written.
class AheadCursor {
 public:
  bool valid() const { return overlay_row_ != nullptr || from_store_; }
  void next();
  uint64_t hash() const { return overlay_row_ ? overlay_row_->hash : store_->hash(); }
  std::string_view key() const { return overlay_row_ ? std::string_view(overlay_row_->key) : store_->key(); }
  std::string_view row() const { return overlay_row_ ? std::string_view(overlay_row_->row) : store_->row(); }

 private:
  friend class AheadRows;

  const OverlayRow* peek_overlay() const;
  void advance_overlay();
  void settle();

  Direction direction_ = Direction::Forward;
  std::unique_ptr<RowCursor> store_;
  // Of an ordered table: what is left of the overlay's order. Of another: a sorted list.
  const Overlay::Order* order_ = nullptr;
  Overlay::Order::const_iterator order_at_;
  TableId table_;
  std::vector<const OverlayRow*> list_;
  size_t list_at_ = 0;

  const OverlayRow* overlay_row_ = nullptr;  // The present row, if it is the overlay's;
  bool from_store_ = false;                  // or if it is the store's.
};

class AheadRows {
 public:
  AheadRows(Overlay& overlay, RowStore& store) : overlay_(overlay), store_(store) {}

  // The view is good until the next read or write.
  std::optional<std::string_view> get(TableId table, uint64_t hash, std::string_view key) {
    if (const OverlayRow* row = overlay_.find(table, hash, key)) {
      return row->present ? std::optional<std::string_view>(row->row) : std::nullopt;
    }
    return store_.get(table, hash, key);
  }

  void prefetch(std::span<const RowAddress> places) { store_.prefetch(places); }

  // Of an ordered table: from the first row at or after (Forward) or at or before (Backward) the place.
  AheadCursor seek(TableId table, uint64_t hash, std::string_view key, Direction direction);
  // The first (Forward) or last (Backward) row of the table with this hash whose key begins with `prefix`.
  AheadCursor seek_group(TableId table, uint64_t hash, std::string_view prefix, Direction direction);
  // Of any table: from the first row after the place (key none: at or after). Visits the whole overlay.
  AheadCursor scan(TableId table, uint64_t hash, std::optional<std::string_view> after_key);

  Overlay& overlay() { return overlay_; }
  RowStore& store() { return store_; }

 private:
  Overlay& overlay_;
  RowStore& store_;
  OverlayRow probe_;
};

inline bool in_group(const AheadCursor& cursor, uint64_t hash, std::string_view prefix) {
  return cursor.valid() && cursor.hash() == hash && cursor.key().starts_with(prefix);
}

}  // namespace tidemark
