// Statements as they were written: a small tree of what Tidemark supports, free of the parser's own types.
// Locations are byte offsets in the statement text, -1 where there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tidemark::sql::ast {

struct Expr;
struct Select;
using ExprPtr = std::unique_ptr<Expr>;
using SelectPtr = std::unique_ptr<Select>;

// A type as named, with its modifiers: numeric(10, 2).
struct TypeName {
  std::string name;  // PostgreSQL's internal name where the grammar gives it: "int4".
  std::vector<int64_t> modifiers;
  bool is_array = false;
  int location = -1;
};

struct OrderBy {
  ExprPtr expr;
  bool descending = false;
  bool nulls_first = false;
};

struct Window {
  std::vector<ExprPtr> partition_by;
  std::vector<OrderBy> order_by;
};

enum class ExprKind : uint8_t {
  Null,
  Boolean,   // `flag`
  Integer,   // `text`, fits bigint or not
  Decimal,   // `text`
  String,    // `text`
  Param,     // `number`, from 1
  Column,    // `names`, qualifiers first; `flag`: ends in *
  Operator,  // `text`, one or two args
  And,       // args
  Or,        // args
  Not,       // one arg
  IsNull,    // one arg; `flag`: IS NOT NULL
  IsTruth,   // one arg; `text` is "true", "false" or "unknown"; `flag`: IS NOT
  Distinct,  // two args; `flag`: IS NOT DISTINCT FROM
  In,        // the first arg in the others; `flag`: NOT IN
  Between,   // three args; `flag`: NOT BETWEEN; `number` is 1 for SYMMETRIC
  Like,      // two or three (escape) args; `text` is the operator, as "!~~*"
  Case,      // args: [operand,] then when, then, ..., [else]; `flag`: has operand; `number` is 1: has else
  Coalesce,
  NullIf,
  Greatest,
  Least,
  Cast,       // one arg to `type`
  Function,   // `names`, args, and `call`
  Subquery,   // `query`, used as `use`; Any and All: the arg is compared by the operator `text`
  AnyArray,   // two args compared by the operator `text`: with any element; `flag`: with all
  Array,      // args
  Subscript,  // args: an array and a number
  Field,      // one arg, a row; `text` is the field
  Default,    // the keyword, in VALUES and SET
};

// What is made of the rows of a query in an expression.
enum class SubqueryUse : uint8_t { Scalar, Exists, Any, All, Array };

struct Expr;

// What only function calls have.
struct Call {
  bool star = false;
  bool distinct = false;
  ExprPtr filter;
  std::optional<Window> over;
};

struct Expr {
  ExprKind kind = ExprKind::Null;
  int location = -1;
  bool flag = false;
  int number = 0;
  std::string text;
  std::vector<std::string> names;
  std::vector<ExprPtr> args;
  TypeName type;
  std::unique_ptr<Call> call;
  SelectPtr query;
  SubqueryUse use = SubqueryUse::Scalar;
};

struct TableName {
  std::string schema;  // Empty if not given.
  std::string name;
  int location = -1;
};

struct From;
using FromPtr = std::unique_ptr<From>;

enum class FromKind : uint8_t { Table, Subquery, Join, Function };
enum class JoinKind : uint8_t { Inner, Left, Right, Cross };

struct From {
  FromKind kind = FromKind::Table;
  TableName table;
  SelectPtr subquery;
  ExprPtr function;  // A call. It may use the items before it, as with LATERAL.
  std::string alias;
  std::vector<std::string> column_aliases;
  JoinKind join = JoinKind::Inner;
  FromPtr left, right;
  ExprPtr on;
  std::vector<std::string> using_columns;
  int location = -1;
};

struct Target {
  ExprPtr expr;
  std::string alias;
  int location = -1;
};

struct CommonTable {
  std::string name;
  std::vector<std::string> columns;
  SelectPtr query;
  int location = -1;
};

enum class SetOperation : uint8_t { None, UnionAll, Union };

struct Select {
  std::vector<CommonTable> with;
  bool distinct = false;
  std::vector<ExprPtr> distinct_on;
  std::vector<Target> targets;
  std::vector<FromPtr> from;
  ExprPtr where;
  std::vector<ExprPtr> group_by;
  ExprPtr having;
  std::vector<OrderBy> order_by;
  ExprPtr limit;
  ExprPtr offset;
  std::vector<std::vector<ExprPtr>> values;  // VALUES lists; then there are no targets.
  SetOperation set_operation = SetOperation::None;
  SelectPtr left, right;
  int location = -1;
};

struct Option {
  std::string name;
  std::string value;  // Empty where only the name was written.
  int location = -1;
};

struct ColumnDefinition {
  std::string name;
  TypeName type;
  bool not_null = false;
  ExprPtr default_value;
  int location = -1;
};

struct CreateTable {
  TableName table;
  std::vector<ColumnDefinition> columns;
  std::vector<std::string> primary_key;
  std::vector<Option> options;
  bool if_not_exists = false;
};

struct CreateView {
  TableName view;
  std::vector<std::string> column_names;
  std::vector<Option> options;
  SelectPtr query;
  bool if_not_exists = false;
  bool or_replace = false;
  // Where the query is written, for the catalog: [begin, end) of the statement text.
  int query_begin = 0, query_end = 0;
};

// ALTER MATERIALIZED VIEW ... SET (option = value, ...), or RESET (option, ...).
struct AlterView {
  TableName view;
  std::vector<Option> options;
  bool reset = false;
  bool if_exists = false;
};

struct Drop {
  std::vector<TableName> tables;
  bool materialized_view = false;
  bool if_exists = false;
  bool cascade = false;
};

struct Assignment {
  std::string column;
  ExprPtr value;
  int location = -1;
};

enum class ConflictAction : uint8_t { Error, Nothing, Update };

struct Insert {
  TableName table;
  std::string alias;
  std::vector<std::string> columns;
  std::vector<int> column_locations;
  SelectPtr source;  // Null for DEFAULT VALUES.
  ConflictAction on_conflict = ConflictAction::Error;
  std::vector<std::string> conflict_columns;
  std::vector<Assignment> conflict_set;
  ExprPtr conflict_where;
  std::vector<Target> returning;
};

struct Update {
  TableName table;
  std::string alias;
  std::vector<Assignment> set;
  ExprPtr where;
  std::vector<Target> returning;
};

struct Delete {
  TableName table;
  std::string alias;
  ExprPtr where;
  std::vector<Target> returning;
};

struct Copy {
  TableName table;
  std::vector<std::string> columns;
  std::vector<Option> options;
};

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;

struct Explain {
  StatementPtr statement;
  std::vector<Option> options;
};

struct Show {
  std::string name;
};

enum class SetKind : uint8_t { Value, Default, ResetAll };

struct Set {
  SetKind kind = SetKind::Value;
  std::string name;
  std::vector<std::string> values;
  bool local = false;
};

enum class TransactionKind : uint8_t { Begin, Commit, Rollback };

struct Transaction {
  TransactionKind kind = TransactionKind::Begin;
  bool read_only = false;
};

// DEALLOCATE and DISCARD ALL: what drivers and pools send to tidy up. An empty name means all.
struct Deallocate {
  std::string name;
};
struct DiscardAll {};

struct Statement {
  std::variant<SelectPtr, CreateTable, CreateView, AlterView, Drop, Insert, Update, Delete, Copy, Explain,
               Show, Set, Transaction, Deallocate, DiscardAll>
      body;
  // Its text: [begin, end) of what was parsed.
  int begin = 0, end = 0;
};

}  // namespace tidemark::sql::ast
