// Random expressions over random rows: the same answer as PostgreSQL, or the same SQLSTATE.
#include <gtest/gtest.h>

#include "sql/bind/expression_binder.h"
#include "sql/bind/simplify.h"
#include "sql/expr/program.h"
#include "sql/parse/parser.h"
#include "tests/sql/agreement.h"
#include "tests/sql/oracle.h"
#include "tests/sql/random_expressions.h"
#include "tests/sql/run_query.h"

namespace tidemark::sql {
namespace {

using testing::agree;
using testing::Answer;
using testing::Oracle;
using testing::Planning;
using testing::quote;
using testing::random_columns;
using testing::RandomExpressions;
using testing::RandomValues;
using testing::refused;
using testing::with_literals;

class NoTables : public Catalog {
 public:
  TableSchemaPtr find_table(std::string_view, std::string_view) const override { return nullptr; }
};

// Literals may be hidden from planners, so that both compute the same: parameters here, subqueries there.
enum class Literals : bool { Shown, Hidden };

class Question {
 public:
  Question(const std::string& sql, Literals literals) {
    const bool hidden = literals == Literals::Hidden;
    theirs =
        with_literals(sql, [&](const std::string& text) { return hidden ? "(select " + text + ")" : text; });
    ours = with_literals(sql, [&](const std::string& text) {
      if (!hidden) return text;
      literals_.push_back(text);
      return "$" + std::to_string(literals_.size());
    });
  }

  Answer answer(const std::vector<Value>& row) {
    Scope scope;
    for (size_t i = 0; i < random_columns().size(); ++i) {
      scope.columns.push_back(
          {"t", random_columns()[i].name, SqlType::of(random_columns()[i].kind), static_cast<int>(i)});
    }
    ParamTypes params;
    for (const std::string& text : literals_) {
      auto literal = bound(text, Scope{}, params);
      if (!literal.ok()) return refused(literal.error());
      params_.push_back((*literal)->constant);
      params.types.push_back(SqlType::of((*literal)->type.kind));
    }
    auto expression = bound(ours, scope, params);
    if (!expression.ok()) return refused(expression.error());
    return evaluated(**expression, row);
  }

  std::string ours, theirs;

 private:
  static Result<ExpressionPtr, SqlError> bound(const std::string& sql, const Scope& scope,
                                               ParamTypes& params) {
    TM_SQL_ASSIGN(const ast::ExprPtr parsed, parse_expression(sql));
    NoTables catalog;
    ExpressionBinder binder(catalog, params, scope, Clause::Select, nullptr);
    TM_SQL_ASSIGN(ExpressionPtr out, binder.bind(*parsed));
    TM_SQL_ASSIGN(out, binder.coercer().settle(std::move(out)));
    return simplify(std::move(out));
  }

  Answer evaluated(const Expression& expression, const std::vector<Value>& row) const {
    std::vector<Value> params;
    for (const OwnedValue& value : params_) params.push_back(value.get());
    Evaluation evaluation;
    evaluation.params = params;
    Value value;
    const Program program(expression);
    const Fault fault = program.run(evaluation, RowInput(row.data()), value);
    if (!fault.ok()) return refused(evaluation.take_error(fault));
    Answer out;
    out.types = {std::string(type_name(expression.type.kind))};
    out.rows = {{value.is_null() ? "\\N" : to_text(value)}};
    return out;
  }

  std::vector<std::string> literals_;
  std::vector<OwnedValue> params_;
};

std::string row_values(const std::vector<Value>& row) {
  std::string out;
  for (size_t i = 0; i < row.size(); ++i) {
    out += (i > 0 ? ", " : "") + (row[i].is_null() ? "null" : quote(to_text(row[i]))) +
           "::" + std::string(type_name(random_columns()[i].kind));
  }
  return out;
}

TEST(ExpressionOracle, AnswersAsPostgresDoes) {
  const testing::OracleRun run = testing::oracle_run(4000, 1);
  Oracle oracle;
  std::string columns, names;
  for (const auto& column : random_columns()) {
    columns += ", " + column.name + " " + std::string(type_name(column.kind));
    names += (names.empty() ? "" : ", ") + column.name;
  }
  oracle.run("CREATE TABLE t (id int" + columns + ")");
  RandomValues random(run.seed);
  RandomExpressions expressions(random);
  int refusals = 0, values = 0, nulls = 0, failures = 0;
  constexpr int kRows = 6;
  std::vector<std::vector<Value>> rows;
  Arena arena;
  for (int round = 0; round < run.rounds; ++round) {
    if (round % 200 == 0) {
      arena.reset();
      rows.assign(kRows, {});
      oracle.run("TRUNCATE t");
      for (int i = 0; i < kRows; ++i) {
        for (const auto& column : random_columns()) {
          rows[i].push_back(random.chance(12) ? Value::null() : random.value(column.kind, arena));
        }
        oracle.run("INSERT INTO t VALUES (" + std::to_string(i) + ", " + row_values(rows[i]) + ")");
      }
    }
    const std::string sql = random.chance(85)
                                ? expressions.of_any(static_cast<int>(random.below(4)) + 1)
                                : expressions.of(TypeKind::Boolean, static_cast<int>(random.below(4)) + 1);
    const size_t row = random.below(kRows);
    std::vector<Literals> ways{Literals::Hidden};
    if (random.chance(20)) ways.push_back(Literals::Shown);
    for (const Literals literals : ways) {
      Question question(sql, literals);
      const Answer ours = question.answer(rows[row]);
      const Answer theirs =
          oracle.ask("SELECT (" + question.theirs + ") FROM t WHERE id = " + std::to_string(row));
      refusals += theirs.ok() ? 0 : 1;
      values += theirs.ok() ? 1 : 0;
      nulls += theirs.ok() && theirs.rows[0][0] == "\\N" ? 1 : 0;
      if (agree(ours, theirs, literals == Literals::Hidden ? Planning::None : Planning::OfConstants))
        continue;
      ADD_FAILURE() << "ours:   " << ours.shown() << "\ntheirs: " << theirs.shown() << "\nSELECT ("
                    << question.theirs << ") FROM (VALUES (" << row_values(rows[row]) << ")) t(" << names
                    << ");";
      ++failures;
    }
    if (failures >= 20) break;
  }
  std::printf("%d values (%d of them NULL), %d refusals\n", values, nulls, refusals);
  EXPECT_GT(values, run.rounds / 4);
  EXPECT_GT(refusals, run.rounds / 50);
}

}  // namespace
}  // namespace tidemark::sql
