#include "sql/execute/operator.h"

#include <algorithm>
#include <deque>

#include "sql/types/key_encoding.h"

namespace tidemark::sql::execute {
namespace {

bool has_room(const Evaluation& evaluation) {
  return evaluation.arena.used_bytes() < Batch::kBytesMax;
}

class ValuesOperator : public Operator {
 public:
  ValuesOperator(const Relation& relation, Context& context)
      : relation_(relation), context_(context), evaluation_(context.evaluation()) {}

  PullResult next(Batch& out) override {
    out.reset(relation_.columns.size());
    evaluation_.arena.reset();
    programs_.clear();
    if (at_ == relation_.rows.size()) return Pull::End;
    for (; at_ < relation_.rows.size() && !out.is_full() && has_room(evaluation_); ++at_) {
      const Program& program = programs_.emplace_back(relation_.rows[at_]);
      Value* row = out.add_row();
      TM_TRY(context_.run(program, evaluation_, nullptr, {row, relation_.columns.size()}));
    }
    return Pull::Rows;
  }

 private:
  const Relation& relation_;
  Context& context_;
  Evaluation evaluation_;
  std::deque<Program> programs_;  // Of the rows last given: they point to constants.
  size_t at_ = 0;
};

class ScanOperator : public Operator {
 public:
  ScanOperator(const Relation& relation, Context& context)
      : relation_(relation),
        context_(context),
        prefix_(relation.key_prefix),
        evaluation_(context.evaluation()) {}

  PullResult next(Batch& out) override {
    if (cursor_ == nullptr) {
      TM_SQL_ASSIGN(const bool any, open());
      if (!any) {
        out.reset(relation_.columns.size());
        return Pull::End;
      }
    }
    TM_SQL_ASSIGN(const Pull pull, cursor_->next(out));
    context_.spend(out.row_count());
    return pull;
  }

 private:
  // False if the key can not be: = NULL.
  Result<bool, SqlError> open() {
    const TableSchema& table = *relation_.table;
    ScanRequest request;
    request.table = &table;
    request.prefix.resize(relation_.key_prefix.size());
    TM_TRY(context_.run(prefix_, evaluation_, nullptr, request.prefix));
    for (size_t i = 0; i < request.prefix.size(); ++i) {
      if (request.prefix[i].is_null()) return false;
      const bool hashed = i < table.distribution.size();
      append_key(request.prefix[i],
                 hashed ? SortOrder::Ascending : table.clustering[i - table.distribution.size()].order,
                 request.key);
      if (i + 1 == table.distribution.size()) {
        request.has_hash = true;
        request.hash = distribution_hash(request.key);
      }
    }
    TM_SQL_ASSIGN(cursor_, context_.source.open(request));
    return true;
  }

  const Relation& relation_;
  Context& context_;
  Program prefix_;
  Evaluation evaluation_;
  std::unique_ptr<RowCursor> cursor_;
};

class FilterOperator : public Operator {
 public:
  FilterOperator(const Relation& relation, OperatorPtr input, Context& context)
      : input_(std::move(input), context),
        context_(context),
        program_(*relation.condition),
        evaluation_(context.evaluation()) {}

  PullResult next(Batch& out) override {
    out.reset(0);
    TM_SQL_ASSIGN(const Pull pull, input_.fill());
    if (pull != Pull::Rows) return pull;
    out.reset(input_.width());
    for (; input_.has_row(); input_.pass()) {
      Value keep;
      evaluation_.arena.reset();
      TM_TRY(context_.run(program_, evaluation_, input_.row(), {&keep, 1}));
      if (!keep.is_null() && keep.as_bool()) std::copy_n(input_.row(), input_.width(), out.add_row());
    }
    return Pull::Rows;
  }

 private:
  InputRows input_;
  Context& context_;
  Program program_;
  Evaluation evaluation_;
};

class ProjectOperator : public Operator {
 public:
  ProjectOperator(const Relation& relation, OperatorPtr input, Context& context)
      : input_(std::move(input), context),
        context_(context),
        program_(relation.expressions),
        evaluation_(context.evaluation()) {}

  PullResult next(Batch& out) override {
    out.reset(program_.result_count());
    TM_SQL_ASSIGN(const Pull pull, input_.fill());
    if (pull != Pull::Rows) return pull;
    evaluation_.arena.reset();
    for (; input_.has_row() && has_room(evaluation_); input_.pass()) {
      TM_TRY(context_.run(program_, evaluation_, input_.row(), {out.add_row(), program_.result_count()}));
    }
    return Pull::Rows;
  }

 private:
  InputRows input_;
  Context& context_;
  Program program_;
  Evaluation evaluation_;
};

class UnionAllOperator : public Operator {
 public:
  explicit UnionAllOperator(std::vector<OperatorPtr> inputs) : inputs_(std::move(inputs)) {}

  PullResult next(Batch& out) override {
    for (; at_ < inputs_.size(); ++at_) {
      TM_SQL_ASSIGN(const Pull pull, inputs_[at_]->next(out));
      if (pull != Pull::End) return pull;
    }
    return Pull::End;
  }

 private:
  std::vector<OperatorPtr> inputs_;
  size_t at_ = 0;
};

class LimitOperator : public Operator {
 public:
  LimitOperator(const Relation& relation, OperatorPtr input, Context& context)
      : relation_(relation), input_(std::move(input)), context_(context), evaluation_(context.evaluation()) {}

  PullResult next(Batch& out) override {
    out.reset(relation_.columns.size());
    if (!started_) TM_TRY(start());
    if (left_ == 0) return Pull::End;
    TM_SQL_ASSIGN(const Pull pull, input_->next(batch_));
    if (pull != Pull::Rows) return pull;
    for (size_t i = 0; i < batch_.row_count() && left_ > 0; ++i) {
      if (skip_ > 0) {
        --skip_;
        continue;
      }
      std::copy_n(batch_.row(i), batch_.width(), out.add_row());
      --left_;
    }
    return Pull::Rows;
  }

 private:
  SqlStatus start() {
    started_ = true;
    TM_TRY(count(relation_.limit.get(), {sqlstate::kInvalidRowCountInLimit, "LIMIT must not be negative"},
                 left_));
    return count(relation_.offset.get(), {sqlstate::kInvalidRowCountInOffset, "OFFSET must not be negative"},
                 skip_);
  }

  SqlStatus count(const Expression* expression, Fault if_negative, int64_t& out) {
    if (expression == nullptr) return {};
    Value value;
    const Program program(*expression);
    TM_TRY(context_.run(program, evaluation_, nullptr, {&value, 1}));
    if (value.is_null()) return {};
    if (value.as_int() < 0) return to_error(if_negative);
    out = value.as_int();
    return {};
  }

  const Relation& relation_;
  OperatorPtr input_;
  Context& context_;
  Evaluation evaluation_;
  Batch batch_;
  bool started_ = false;
  int64_t left_ = INT64_MAX;
  int64_t skip_ = 0;
};

}  // namespace

Result<OperatorPtr, SqlError> make_operator(const Relation& relation, Context& context) {
  std::vector<OperatorPtr> inputs;
  const size_t input_count = relation.kind == RelationKind::Apply ? 1 : relation.inputs.size();
  for (size_t i = 0; i < input_count; ++i) {
    const RelationPtr& input = relation.inputs[i];
    TM_SQL_ASSIGN(OperatorPtr made, make_operator(*input, context));
    inputs.push_back(std::move(made));
  }
  switch (relation.kind) {
    case RelationKind::Values: return OperatorPtr(std::make_unique<ValuesOperator>(relation, context));
    case RelationKind::Scan: return OperatorPtr(std::make_unique<ScanOperator>(relation, context));
    case RelationKind::Filter:
      return OperatorPtr(std::make_unique<FilterOperator>(relation, std::move(inputs[0]), context));
    case RelationKind::Project:
      return OperatorPtr(std::make_unique<ProjectOperator>(relation, std::move(inputs[0]), context));
    case RelationKind::UnionAll: return OperatorPtr(std::make_unique<UnionAllOperator>(std::move(inputs)));
    case RelationKind::Limit:
      return OperatorPtr(std::make_unique<LimitOperator>(relation, std::move(inputs[0]), context));
    case RelationKind::Join: return make_join(relation, std::move(inputs[0]), std::move(inputs[1]), context);
    case RelationKind::Aggregate: return make_aggregate(relation, std::move(inputs[0]), context);
    case RelationKind::Distinct: return make_distinct(relation, std::move(inputs[0]), context);
    case RelationKind::Sort: return make_sort(relation, std::move(inputs[0]), context);
    case RelationKind::Apply: return make_apply(relation, std::move(inputs[0]), context);
    case RelationKind::Expand: return make_expand(relation, std::move(inputs[0]), context);
    case RelationKind::TopK: return make_top_k(relation, std::move(inputs[0]), context);
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark::sql::execute
