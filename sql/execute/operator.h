// Internal to execution: a tree of pull operators, one per Relation. Any of them may say Pending and go on
// later.
#pragma once

#include <memory>
#include <vector>

#include "sql/bind/relation.h"
#include "sql/execute/row_source.h"
#include "sql/execute/select_execution.h"
#include "sql/expr/program.h"

namespace tidemark::sql::execute {

// What all operators of one execution share.
struct Context {
  RowSource& source;
  const ExecutionSettings& settings;
  size_t memory_bytes = 0;
  // What is left of the turn that SelectExecution::next() gave. Who may go over many rows without giving any
  // asks has_turn() before each, and gives what there is when nothing is left: the loop has others to serve.
  int64_t turn_rows_left = 0;
  // The values that queries in expressions are run for: Outer expressions. Never moves.
  std::vector<Value> outer = {};

  Evaluation evaluation() const {
    Evaluation out;
    out.params = settings.params;
    out.outer = outer;
    out.now_micros = settings.now_micros;
    out.random = Random(settings.random_seed);
    out.user = settings.user;
    out.database = settings.database;
    return out;
  }
  bool has_turn() const { return turn_rows_left > 0; }
  void spend(size_t rows) { turn_rows_left -= static_cast<int64_t>(rows); }
  // Computes `results` from a row, which is one of the turn's; a kilobyte of values counts as another.
  SqlStatus run(const Program& program, Evaluation& evaluation, const Value* row, std::span<Value> results) {
    const size_t before = evaluation.arena.used_bytes();
    const Fault fault = program.run(evaluation, RowInput(row), results);
    spend(1 + (evaluation.arena.used_bytes() - before) / 1024);
    if (!fault.ok()) return evaluation.take_error(fault);
    return {};
  }
  // Counts memory that is held; 53200 when it is too much.
  SqlStatus hold(size_t bytes) {
    memory_bytes += bytes;
    if (memory_bytes <= settings.memory_bytes_max) return {};
    return SqlError{sqlstate::kOutOfMemory,
                    "the query needs more memory than it may have",
                    0,
                    {},
                    "Select fewer rows, or keep the result up to date as a materialized view."};
  }
};

class Operator {
 public:
  virtual ~Operator() = default;

  // Resets `out` and fills it, also with no rows if the turn ends before. The values are valid until the next
  // call.
  virtual PullResult next(Batch& out) = 0;
};
using OperatorPtr = std::unique_ptr<Operator>;

// The rows of an input one by one, over as many turns as it takes.
class InputRows {
 public:
  InputRows(OperatorPtr input, Context& context) : input_(std::move(input)), context_(context) {}

  // Asks for more when all are passed. Rows: has_row() tells whether there is one.
  PullResult fill() {
    if (at_ < batch_.row_count()) return Pull::Rows;
    at_ = 0;
    TM_SQL_ASSIGN(const Pull pull, input_->next(batch_));
    if (pull != Pull::Rows) batch_.reset(0);
    return pull;
  }
  // False also where the turn ends.
  bool has_row() const { return at_ < batch_.row_count() && context_.has_turn(); }
  const Value* row() const { return batch_.row(at_); }
  void pass() { ++at_; }
  size_t width() const { return batch_.width(); }

 private:
  OperatorPtr input_;
  Context& context_;
  Batch batch_;
  size_t at_ = 0;
};

Result<OperatorPtr, SqlError> make_operator(const Relation& relation, Context& context);

OperatorPtr make_join(const Relation& relation, OperatorPtr left, OperatorPtr right, Context& context);
OperatorPtr make_aggregate(const Relation& relation, OperatorPtr input, Context& context);
OperatorPtr make_distinct(const Relation& relation, OperatorPtr input, Context& context);
OperatorPtr make_sort(const Relation& relation, OperatorPtr input, Context& context);
// Makes the operators of its query again for each row.
OperatorPtr make_apply(const Relation& relation, OperatorPtr input, Context& context);
OperatorPtr make_expand(const Relation& relation, OperatorPtr input, Context& context);
OperatorPtr make_top_k(const Relation& relation, OperatorPtr input, Context& context);
// All rows of `input`, once the last of them has come.
OperatorPtr make_whole(size_t width, OperatorPtr input, Context& context);

// Rows kept in memory: copies of what was added.
class KeptRows {
 public:
  KeptRows(size_t width, Context& context) : width_(width), context_(context) {}

  SqlStatus add(const Value* row) {
    const size_t before = arena_.used_bytes();
    for (size_t i = 0; i < width_; ++i) values_.push_back(row[i].copy_into(arena_));
    ++rows_;
    return context_.hold(arena_.used_bytes() - before + width_ * sizeof(Value));
  }
  const Value* row(size_t index) const { return values_.data() + index * width_; }
  size_t row_count() const { return rows_; }

 private:
  size_t width_;
  size_t rows_ = 0;
  Context& context_;
  std::vector<Value> values_;
  Arena arena_;
};

// Sort keys of a row as bytes in the order wanted.
class SortKeyEncoder {
 public:
  explicit SortKeyEncoder(const std::vector<SortKey>& keys);

  SqlStatus append(Context& context, Evaluation& evaluation, const Value* row, std::string& out);

 private:
  struct Part {
    bool descending, nulls_first;
  };
  std::vector<Part> parts_;
  Program program_;
  std::vector<Value> values_;
};

}  // namespace tidemark::sql::execute
