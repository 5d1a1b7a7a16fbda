// Sinks turn a flow's rows, before and after a change, into effects on one table. Pure functions of the rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sql/expr/program.h"
#include "sql/plan/view_plan.h"
#include "sql/table/table_codec.h"
#include "view_manager/operators/operator_context.h"

namespace tidemark {

class Sink {
 public:
  virtual ~Sink() = default;

  // The expressions that it wants evaluated for each row.
  const sql::Program& program() const { return program_; }

  // Fails for values that can not be kept (NaN in a sum).
  virtual sql::Fault check(std::span<const sql::Value>) const { return sql::kOk; }

  // How large its rows, with their keys, become in a table: the largest of them.
  virtual size_t bytes_of(const FlowRow& row, std::string_view identity) = 0;

  // `identity` gives the encoded identity of the row, on demand.
  virtual void emit(const FlowRow& before, const FlowRow& after, std::string_view identity,
                    OperatorContext& context) = 0;
  virtual bool needs_identity() const { return false; }

  // The row that is there even over nothing; at the end of the view's backfill.
  virtual void pin(OperatorContext&) {}

 protected:
  explicit Sink(std::vector<sql::ExpressionPtr> expressions) : program_(expressions) {}

 private:
  sql::Program program_;
};

// How sinks find the tables they write to.
using FindCodec = std::function<const sql::TableCodec&(TableId)>;

std::unique_ptr<Sink> make_put_sink(const sql::SinkPlan& plan, const FindCodec& codec);
std::unique_ptr<Sink> make_aggregate_sink(const sql::SinkPlan& plan, const FindCodec& codec);
std::unique_ptr<Sink> make_multiset_sink(const sql::SinkPlan& plan, const FindCodec& codec);
std::unique_ptr<Sink> make_sink(const sql::SinkPlan& plan, const FindCodec& codec);

}  // namespace tidemark
