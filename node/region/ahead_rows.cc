#include "node/region/ahead_rows.h"

#include <tuple>

#include "node/region/key_range.h"

namespace tidemark {

const OverlayRow* AheadCursor::peek_overlay() const {
  if (order_ == nullptr) return list_at_ < list_.size() ? list_[list_at_] : nullptr;
  // Backward, the iterator stands behind the row to come.
  if (direction_ == Direction::Backward) {
    if (order_at_ == order_->begin()) return nullptr;
    const OverlayRow* row = *std::prev(order_at_);
    return row->table == table_ ? row : nullptr;
  }
  if (order_at_ == order_->end() || (*order_at_)->table != table_) return nullptr;
  return *order_at_;
}

void AheadCursor::advance_overlay() {
  if (order_ == nullptr) {
    ++list_at_;
  } else if (direction_ == Direction::Backward) {
    --order_at_;
  } else {
    ++order_at_;
  }
}

// Finds the present row: the nearer of both; where both have it, the overlay's, and none if it is gone.
void AheadCursor::settle() {
  overlay_row_ = nullptr;
  from_store_ = false;
  while (true) {
    const OverlayRow* over = peek_overlay();
    if (over == nullptr) {
      from_store_ = store_->valid();
      return;
    }
    if (store_->valid()) {
      auto mine = std::tuple(over->hash, std::string_view(over->key));
      auto theirs = std::tuple(store_->hash(), store_->key());
      if (direction_ == Direction::Forward ? theirs < mine : mine < theirs) {
        from_store_ = true;
        return;
      }
      if (mine == theirs) store_->next();
    }
    advance_overlay();
    if (over->present) {
      overlay_row_ = over;
      return;
    }
  }
}

void AheadCursor::next() {
  if (from_store_) store_->next();
  settle();
}

AheadCursor AheadRows::seek(TableId table, uint64_t hash, std::string_view key, Direction direction) {
  AheadCursor out;
  out.direction_ = direction;
  out.table_ = table;
  out.store_ = store_.seek(table, hash, key, direction);
  probe_.table = table;
  probe_.hash = hash;
  probe_.key.assign(key);
  out.order_ = &overlay_.order();
  out.order_at_ =
      direction == Direction::Forward ? out.order_->lower_bound(&probe_) : out.order_->upper_bound(&probe_);
  out.settle();
  return out;
}

AheadCursor AheadRows::seek_group(TableId table, uint64_t hash, std::string_view prefix,
                                  Direction direction) {
  if (direction == Direction::Forward) return seek(table, hash, prefix, direction);
  RowPlace end = end_of_group(hash, prefix);
  AheadCursor out = seek(table, end.hash, end.key, direction);
  if (out.valid() && !in_group(out, hash, prefix)) out.next();  // It stood exactly on the end.
  return out;
}

AheadCursor AheadRows::scan(TableId table, uint64_t hash, std::optional<std::string_view> after_key) {
  AheadCursor out;
  out.table_ = table;
  out.store_ = store_.seek(table, hash, after_key.value_or(std::string_view()), Direction::Forward);
  if (after_key && out.store_->valid() && out.store_->hash() == hash && out.store_->key() == *after_key) {
    out.store_->next();
  }
  out.list_ = overlay_.sorted(table, hash, after_key);
  out.settle();
  return out;
}

}  // namespace tidemark
