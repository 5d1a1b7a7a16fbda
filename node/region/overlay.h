// Rows as they will be once what is in flight is durable: the newest write of each row, over the RowStore.
// Entries and their memory are reused, so that writing a row allocates nothing in the long run.
#pragma once

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace tidemark {

struct OverlayRow {
  TableId table;
  uint64_t hash = 0;
  std::string key;
  std::string row;
  bool present = false;  // False: the row is gone.

 private:
  friend class Overlay;
  uint64_t mixed = 0;  // Of table, hash and key.
  Offset last;         // The record of its newest write.
  bool ordered = false;
  bool staged = false;  // Written since begin().
};

enum class Ordered : bool { No, Yes };

class Overlay {
 public:
  struct Less {
    bool operator()(const OverlayRow* a, const OverlayRow* b) const;
  };
  using Order = std::pmr::set<OverlayRow*, Less>;

  Overlay();

  // None: nothing in flight for it. The row is good until the next write.
  const OverlayRow* find(TableId table, uint64_t hash, std::string_view key) const;

  // ---- writing, all or nothing: begin(), any number of writes, commit() or rollback()

  void begin();
  // `row` none: it goes. Ordered: it is found by order() too; the same for all rows of a table.
  void write(TableId table, uint64_t hash, std::string_view key, std::optional<std::string_view> row,
             Ordered ordered);
  void commit(Offset record);  // REQUIRES: not below that of an earlier commit.
  void rollback();

  // The records up to here are durable and applied: rows not written since go.
  void release(Offset durable);

  // Of ordered tables, by (table, hash, key).
  const Order& order() const { return order_; }
  // Of any table, sorted: those after (hash, key); all of them if `key` is none. Visits everything.
  std::vector<const OverlayRow*> sorted(TableId table, uint64_t hash,
                                        std::optional<std::string_view> key) const;

  size_t size() const { return used_; }

 private:
  struct Undo {
    OverlayRow* row = nullptr;
    std::string old_row;
    bool old_present = false;
    bool was_new = false;
  };
  struct Write {
    Offset record;
    OverlayRow* row;
  };

  // Open addressing, linear probing. What was mixed lies beside the pointer: a look at the row itself is only
  // worth it where it is the right one.
  struct Slot {
    uint64_t mixed = 0;
    OverlayRow* row = nullptr;
  };

  size_t slot_of(uint64_t mixed, TableId table, uint64_t hash, std::string_view key) const;
  OverlayRow* insert(size_t slot, uint64_t mixed, TableId table, uint64_t hash, std::string_view key,
                     Ordered ordered);
  void remove(OverlayRow* row);
  void grow();
  Undo& next_undo();

  std::deque<OverlayRow> slab_;
  std::vector<OverlayRow*> free_;
  std::vector<Slot> slots_;  // A power of two.
  size_t used_ = 0;
  std::pmr::unsynchronized_pool_resource pool_;
  Order order_;
  std::deque<Write> writes_;  // In the order of records.
  std::vector<Undo> undo_;    // The first undo_used_ are of the present transaction.
  size_t undo_used_ = 0;
  bool open_ = false;
};

}  // namespace tidemark
