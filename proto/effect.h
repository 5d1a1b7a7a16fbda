// Effects: what a view manager asks a region to do to rows of views and auxiliary tables. What an effect
// means is the table's RowRule (proto/catalog.proto).
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/types.h"

namespace tidemark {

enum class EffectKind : uint8_t {
  Put = 1,     // PUT, JOIN_SIDE: `row` is the new row.
  Delete = 2,  // PUT, JOIN_SIDE: nothing happens if there is no row.
  Add = 3,     // SUM: `row` is added column by column. MULTISET: `row` is a row of one bigint, added.
};

struct Effect {
  EffectKind kind = EffectKind::Put;
  TableId table;
  uint64_t hash = 0;
  std::string_view key;
  std::string_view row;  // Empty for Delete.
};

void append_effect(std::string& out, const Effect& effect);

class EffectReader {
 public:
  explicit EffectReader(std::string_view effects) : reader_(effects) {}
  bool next(Effect& out);
  bool ok() const { return reader_.ok(); }

 private:
  ByteReader reader_;
};

}  // namespace tidemark
