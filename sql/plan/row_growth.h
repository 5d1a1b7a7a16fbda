// Which flows may bring a row that is larger than one of a view may be (base/row_limits.h), or that has more
// words than one may have.
#pragma once

#include "sql/plan/view_plan.h"

namespace tidemark::sql {

enum class SourceRows : uint8_t {
  OfTable,  // As clients write them: at most kRowBytesMax.
  OfView,   // Or of a table that belongs to one: at most kViewRowBytesMax.
};

// Errs on the side of yes. A flow that only chooses from the columns of a table, each once, never does: what
// keys take besides the values is less than the difference of the two limits.
bool may_outgrow(const FlowPlan& flow, SourceRows source);

}  // namespace tidemark::sql
