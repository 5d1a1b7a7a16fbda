// What a statement wants of the catalog: a pure function of the statement and of the catalog.
#pragma once

#include <string>
#include <vector>

#include "proto/messages.pb.h"
#include "sql/bind/statement.h"
#include "sql/session/catalog_snapshot.h"

namespace tidemark::sql {

struct CatalogPlan {
  pb::CatalogRequest request;
  std::string tag;
  std::vector<SqlError> notices;

  // The request wants nothing: it is so already.
  bool is_nothing() const {
    return request.create().empty() && request.drop().empty() && request.pace().empty();
  }
};

Result<CatalogPlan, SqlError> plan_create_table(const CreateTableStatement& create, std::string_view text,
                                                const CatalogSnapshot& catalog);
Result<CatalogPlan, SqlError> plan_create_view(const CreateViewStatement& create, std::string_view text,
                                               const CatalogSnapshot& catalog);
// Of two views with the name, the one that is built beside the other is meant. One that is filled stays as it
// is, with a notice.
Result<CatalogPlan, SqlError> plan_alter_view(const AlterViewStatement& alter,
                                              const CatalogSnapshot& catalog);
Result<CatalogPlan, SqlError> plan_drop(const DropStatement& drop, const CatalogSnapshot& catalog);

// Plans the view of a CREATE MATERIALIZED VIEW statement as it would be created now.
Result<ViewPlan, SqlError> plan_view_of(std::string_view text, const CatalogSnapshot& catalog);

// The tables of the request are in the catalog, paced or gone from it, as it wanted.
bool is_done(const pb::CatalogRequest& request, const CatalogSnapshot& catalog);

}  // namespace tidemark::sql
