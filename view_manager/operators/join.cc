// Second stage of a join: the changed row of a side times its matches on the other. For a left join also the
// rows that stand for "no match".
#include <algorithm>

#include "base/assert.h"
#include "view_manager/operators/flow.h"

namespace tidemark {

void Flow::pair(const sql::Value* own, bool own_is_left, const std::vector<sql::Value>* other,
                std::vector<sql::Value>& out) const {
  const size_t left = left_->columns().size(), right = right_->columns().size();
  sql::Value* own_at = own_is_left ? out.data() : out.data() + left;
  sql::Value* other_at = own_is_left ? out.data() + left : out.data();
  std::copy_n(own, own_is_left ? left : right, own_at);
  if (other != nullptr) {
    std::copy(other->begin(), other->end(), other_at);
  } else {
    std::fill_n(other_at, own_is_left ? right : left, sql::Value());
  }
}

bool Flow::run_join(const Change& change, const sql::Value* before, const sql::Value* after,
                    OperatorContext& context) {
  TM_ASSERT(plan_.source == sql::FlowSource::Join);
  const bool own_is_left = change.table == plan_.left;
  const sql::TableCodec& other = own_is_left ? *right_ : *left_;
  auto run_pair = [&](const std::vector<sql::Value>* match) {
    if (before != nullptr) pair(before, own_is_left, match, wide_before_);
    if (after != nullptr) pair(after, own_is_left, match, wide_after_);
    run_rows(before != nullptr ? wide_before_.data() : nullptr,
             after != nullptr ? wide_after_.data() : nullptr, context);
  };
  const bool brings_or_takes_all =
      plan_.outer && !own_is_left && (change.first_of_side || change.last_of_side);
  const std::vector<sql::Value> nothing(brings_or_takes_all ? right_->columns().size() : 0);
  bool any = false;
  Match match;
  MatchReader matches(change.matches);
  while (matches.next(match)) {
    any = true;
    if (!other.decode(match.key, match.row, context.evaluation.arena, match_).ok()) return false;
    if (brings_or_takes_all) {
      // The left row gets its first partner, or loses its last: the row without one goes, or comes.
      pair(match_.data(), true, &nothing, wide_before_);
      const sql::Value* alone = wide_before_.data();
      run_rows(change.first_of_side ? alone : nullptr, change.last_of_side ? alone : nullptr, context);
    }
    run_pair(&match_);
  }
  if (plan_.outer && own_is_left && !any) run_pair(nullptr);
  return matches.ok();
}

}  // namespace tidemark
