// Statements with names and types resolved: what the gateway carries out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/rows_per_second.h"
#include "sql/bind/coerce.h"
#include "sql/bind/relation.h"
#include "sql/catalog.h"
#include "sql/parse/ast.h"

namespace tidemark::sql {

struct BoundStatement;

struct SelectStatement {
  RelationPtr query;  // Optimized.
};

struct CreateTableStatement {
  TableSchema table;  // Its id is not given yet.
  bool if_not_exists = false;
};

struct CreateViewStatement {
  std::string schema, name;
  RelationPtr query;  // As bound: the planner of views has its own ways. Its columns are the view's.
  std::string query_sql;
  // WITH (distribute_by = '...', cluster_by = '...'), as indexes of columns; empty where not given.
  std::vector<int> distribute_by;
  std::vector<ClusteringColumn> cluster_by;
  std::optional<RowsPerSecond> backfill_rows_per_second;
  std::vector<TableSchemaPtr> sources;
  bool if_not_exists = false;
  bool or_replace = false;
};

struct AlterViewStatement {
  TableSchemaPtr view;  // Null: it was allowed to be missing.
  std::string name;
  std::optional<RowsPerSecond> backfill_rows_per_second;  // None: as fast as it can.
};

struct DropStatement {
  std::vector<TableSchemaPtr> tables;  // Those that exist; the others were allowed to be missing.
  bool cascade = false;
};

struct BoundAssignment {
  int column;
  ExpressionPtr value;
};

struct ReturningClause {
  std::vector<ExpressionPtr> expressions;  // Over the columns of the table.
  std::vector<RelationColumn> columns;
};

struct InsertStatement {
  TableSchemaPtr table;
  RelationPtr source;  // Its columns are the table's, in order.
  ast::ConflictAction on_conflict = ast::ConflictAction::Error;
  // DO UPDATE: over the row that is there and then the row that was to be inserted.
  std::vector<BoundAssignment> conflict_set;
  ExpressionPtr conflict_where;
  ReturningClause returning;
};

// Of one row, by its key.
struct UpdateStatement {
  TableSchemaPtr table;
  std::vector<ExpressionPtr>
      key;                  // A value per column of the key, in its order; of constants and parameters.
  ExpressionPtr condition;  // Over the row: all of WHERE.
  std::vector<BoundAssignment> set;
  ReturningClause returning;
};

struct DeleteStatement {
  TableSchemaPtr table;
  std::vector<ExpressionPtr> key;
  ExpressionPtr condition;
  ReturningClause returning;
};

enum class CopyFormat : uint8_t { Text, Csv };

struct CopyOptions {
  CopyFormat format = CopyFormat::Text;
  char delimiter = '\t';
  char quote = '"';
  char escape = '"';
  std::string null_text = "\\N";
  bool header = false;
};

struct CopyStatement {
  TableSchemaPtr table;
  std::vector<int> columns;
  CopyOptions options;
};

struct ExplainStatement {
  std::unique_ptr<BoundStatement> statement;
  bool analyze = false;
  bool json = false;
};

// Client writes wait, all over the cluster.
struct HoldWritesStatement {
  std::string function;  // As it was called.
  int64_t micros = 0;    // 0: no longer.
};
// Less than clients wait for an answer: no write fails for it.
inline constexpr int64_t kHoldMicrosMax = 20'000'000;

struct BoundStatement {
  std::variant<SelectStatement, CreateTableStatement, CreateViewStatement, AlterViewStatement, DropStatement,
               InsertStatement, UpdateStatement, DeleteStatement, CopyStatement, ExplainStatement,
               HoldWritesStatement, ast::Show, ast::Set, ast::Transaction, ast::Deallocate, ast::DiscardAll>
      body;
};

// `sql` is the text that `statement` was parsed from. `params` are the parameters' types as far as they are
// known, and are completed.
Result<BoundStatement, SqlError> bind_statement(const ast::Statement& statement, std::string_view sql,
                                                const Catalog& catalog, ParamTypes& params);

}  // namespace tidemark::sql
