// SELECT tidemark_hold_writes('10 seconds') and SELECT tidemark_release_writes(): statements in the form of
// queries, since that is what any client can send.
#include "sql/bind/statement_binder.h"
#include "sql/types/compare.h"
#include "sql/types/datetime.h"

namespace tidemark::sql::statement_detail {

namespace {

// Of all that a query may have, a function's call alone.
const ast::Expr* lone_call(const ast::Select& select) {
  const bool has_more = !select.with.empty() || select.distinct || !select.from.empty() || select.where ||
                        !select.group_by.empty() || select.having || !select.order_by.empty() ||
                        select.limit || select.offset || select.set_operation != ast::SetOperation::None;
  if (has_more || select.targets.size() != 1) return nullptr;
  const ast::Expr* expr = select.targets[0].expr.get();
  const bool is_call = expr != nullptr && expr->kind == ast::ExprKind::Function && expr->names.size() == 1;
  return is_call ? expr : nullptr;
}

Bound bind_hold(const ast::Expr& call) {
  Interval bound;
  const bool is_interval = call.args.size() == 1 && call.args[0]->kind == ast::ExprKind::String &&
                           interval_from_text(call.args[0]->text, bound).ok();
  const int128_t micros = is_interval ? interval_span(bound) : 0;
  if (micros < 1 || micros > kHoldMicrosMax) {
    return SqlError{sqlstate::kInvalidParameterValue,
                    "writes can be held for at most 20 seconds",
                    call.location + 1,
                    {},
                    "Write SELECT tidemark_hold_writes('10 seconds')."};
  }
  return BoundStatement{HoldWritesStatement{call.names[0], static_cast<int64_t>(micros)}};
}

}  // namespace

std::optional<Bound> bind_hold_writes(const ast::Select& select) {
  const ast::Expr* call = lone_call(select);
  if (call == nullptr) return std::nullopt;
  if (call->names[0] == "tidemark_hold_writes") return bind_hold(*call);
  if (call->names[0] == "tidemark_release_writes" && call->args.empty())
    return Bound(BoundStatement{HoldWritesStatement{call->names[0], 0}});
  return std::nullopt;
}

}  // namespace tidemark::sql::statement_detail
