#include "sql/plan/row_growth.h"

#include <optional>
#include <set>

#include "base/row_limits.h"

namespace tidemark::sql {

namespace {

// The most that a value takes in a row or key. None: as much as a row has room for.
std::optional<size_t> bytes_max(const SqlType& type) {
  constexpr size_t kAround = 16;  // Marks, ends and offsets.
  if (const int length = type_length(type.kind); length >= 0) return static_cast<size_t>(length) + kAround;
  if (!type.has_modifier()) return std::nullopt;
  if (type.kind == TypeKind::Text) return static_cast<size_t>(type.modifier) * 4 + kAround;
  if (type.kind == TypeKind::Numeric) return static_cast<size_t>(type.numeric_precision()) + kAround;
  return std::nullopt;
}

// A row as it is put together from values.
struct Growth {
  size_t bounded = 0;     // Bytes of the values that have a bound.
  std::set<int> columns;  // Of the source, with values of any size.
  bool grows = false;

  void add(const ExpressionPtr& expression) {
    if (!expression) return;
    if (const std::optional<size_t> bytes = bytes_max(expression->type)) {
      bounded += *bytes;
      return;
    }
    // A key of text is as long as the text; others are longer than the value.
    const bool chosen = expression->kind == ExpressionKind::Column && expression->type.kind == TypeKind::Text;
    grows |= !chosen || !columns.insert(expression->index).second;
  }
};

}  // namespace

bool may_outgrow(const FlowPlan& flow, SourceRows source) {
  if (flow.split.text) return true;  // Small rows too, if there are words enough.
  Growth row;
  size_t sets = 0;  // Of values of any size.
  for (const ExpressionPtr& column : flow.sink.columns) row.add(column);
  for (const ValueSet& set : flow.sink.value_sets) {
    row.add(set.arg);
    sets += bytes_max(set.arg->type) ? 0 : 1;
  }
  if (row.grows || sets > 1 || row.bounded > kViewRowBytesMax / 2) return true;
  if (row.columns.empty()) return flow.sink.identity_first;
  const bool only_chooses = flow.source == FlowSource::Table && !flow.sink.identity_first;
  return !only_chooses || source != SourceRows::OfTable;
}

}  // namespace tidemark::sql
