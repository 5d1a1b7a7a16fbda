// A prepared statement: its text, and what it was bound to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql/bind/statement.h"
#include "sql/gateway/session.h"
#include "sql/session/catalog_snapshot.h"

namespace tidemark::sql {

class BoundText : public PreparedStatement {
 public:
  // One statement, or none: then body() is null.
  static Result<std::shared_ptr<const BoundText>, SqlError> bind(std::string_view text,
                                                                 std::span<const TypeKind> parameters,
                                                                 CatalogSnapshotPtr catalog);

  const std::vector<TypeKind>& parameters() const override { return parameters_; }
  const std::vector<ResultColumn>& columns() const override { return columns_; }

  const std::string& text() const { return text_; }
  const CatalogSnapshotPtr& catalog() const { return catalog_; }
  const BoundStatement* body() const { return body_.get(); }

 private:
  std::string text_;
  CatalogSnapshotPtr catalog_;
  std::unique_ptr<const BoundStatement> body_;
  std::vector<TypeKind> parameters_;
  std::vector<ResultColumn> columns_;
};
using BoundTextPtr = std::shared_ptr<const BoundText>;

// The tables that a query reads, views included; each once.
std::vector<TableSchemaPtr> tables_of(const Relation& query);

}  // namespace tidemark::sql
