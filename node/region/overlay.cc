#include "node/region/overlay.h"

#include <algorithm>
#include <tuple>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"

namespace tidemark {

namespace {

constexpr size_t kSlotsMin = 1024;

uint64_t mix(TableId table, uint64_t hash, std::string_view key) {
  return XXH3_64bits_withSeed(key.data(), key.size(), hash ^ (uint64_t{table.value} << 32));
}

auto order_of(const OverlayRow& row) {
  return std::tuple<TableId, uint64_t, std::string_view>(row.table, row.hash, row.key);
}

}  // namespace

bool Overlay::Less::operator()(const OverlayRow* a, const OverlayRow* b) const {
  return order_of(*a) < order_of(*b);
}

Overlay::Overlay() : slots_(kSlotsMin), order_(&pool_) {}

size_t Overlay::slot_of(uint64_t mixed, TableId table, uint64_t hash, std::string_view key) const {
  size_t mask = slots_.size() - 1;
  size_t slot = mixed & mask;
  while (const OverlayRow* row = slots_[slot].row) {
    if (slots_[slot].mixed == mixed && row->table == table && row->hash == hash && row->key == key) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

const OverlayRow* Overlay::find(TableId table, uint64_t hash, std::string_view key) const {
  return used_ == 0 ? nullptr : slots_[slot_of(mix(table, hash, key), table, hash, key)].row;
}

void Overlay::begin() {
  TM_ASSERT(!open_);
  open_ = true;
}

Overlay::Undo& Overlay::next_undo() {
  if (undo_used_ == undo_.size()) undo_.emplace_back();
  return undo_[undo_used_++];
}

void Overlay::write(TableId table, uint64_t hash, std::string_view key, std::optional<std::string_view> row,
                    Ordered ordered) {
  TM_ASSERT(open_);
  uint64_t mixed = mix(table, hash, key);
  size_t slot = slot_of(mixed, table, hash, key);
  OverlayRow* entry = slots_[slot].row;
  bool is_new = entry == nullptr;
  if (is_new) entry = insert(slot, mixed, table, hash, key, ordered);
  if (!entry->staged) {
    Undo& undo = next_undo();
    undo.row = entry;
    undo.was_new = is_new;
    undo.old_present = entry->present;
    undo.old_row.swap(entry->row);
    entry->staged = true;
  }
  entry->present = row.has_value();
  entry->row.assign(row.value_or(std::string_view()));
}

void Overlay::commit(Offset record) {
  TM_ASSERT(open_);
  TM_ASSERT(writes_.empty() || writes_.back().record <= record, record);
  for (size_t i = 0; i < undo_used_; ++i) {
    OverlayRow* row = undo_[i].row;
    if (undo_[i].was_new || row->last != record) writes_.push_back({record, row});
    row->last = record;
    row->staged = false;
  }
  undo_used_ = 0;
  open_ = false;
}

void Overlay::rollback() {
  TM_ASSERT(open_);
  while (undo_used_ > 0) {
    Undo& undo = undo_[--undo_used_];
    undo.row->staged = false;
    if (undo.was_new) {
      remove(undo.row);
    } else {
      undo.row->present = undo.old_present;
      undo.row->row.swap(undo.old_row);
    }
  }
  open_ = false;
}

void Overlay::release(Offset durable) {
  TM_ASSERT(!open_);
  while (!writes_.empty() && writes_.front().record <= durable) {
    if (writes_.front().row->last == writes_.front().record) remove(writes_.front().row);
    writes_.pop_front();
  }
}

std::vector<const OverlayRow*> Overlay::sorted(TableId table, uint64_t hash,
                                               std::optional<std::string_view> key) const {
  std::vector<const OverlayRow*> out;
  for (const Slot& slot : slots_) {
    const OverlayRow* row = slot.row;
    if (row == nullptr || row->table != table) continue;
    if (key && std::tuple(row->hash, std::string_view(row->key)) <= std::tuple(hash, *key)) continue;
    out.push_back(row);
  }
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return order_of(*a) < order_of(*b); });
  return out;
}

OverlayRow* Overlay::insert(size_t slot, uint64_t mixed, TableId table, uint64_t hash, std::string_view key,
                            Ordered ordered) {
  if (2 * (used_ + 1) > slots_.size()) {
    grow();
    slot = slot_of(mixed, table, hash, key);
  }
  if (free_.empty()) free_.push_back(&slab_.emplace_back());
  OverlayRow* row = free_.back();
  free_.pop_back();
  row->table = table;
  row->hash = hash;
  row->key.assign(key);
  row->present = false;
  row->mixed = mixed;
  row->last = Offset{};
  row->ordered = ordered == Ordered::Yes;
  slots_[slot] = {mixed, row};
  ++used_;
  if (row->ordered) order_.insert(row);
  return row;
}

void Overlay::remove(OverlayRow* row) {
  if (row->ordered) order_.erase(row);
  size_t mask = slots_.size() - 1;
  size_t hole = slot_of(row->mixed, row->table, row->hash, row->key);
  // What lies behind the hole moves up, unless it would come to lie before its own slot.
  for (size_t next = (hole + 1) & mask; slots_[next].row != nullptr; next = (next + 1) & mask) {
    size_t home = slots_[next].mixed & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    slots_[hole] = slots_[next];
    hole = next;
  }
  slots_[hole] = {};
  --used_;
  free_.push_back(row);
}

void Overlay::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  size_t mask = slots_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.row == nullptr) continue;
    size_t slot = entry.mixed & mask;
    while (slots_[slot].row != nullptr) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

}  // namespace tidemark
