// A table as flows read it: its definition, and what its stored rows mean to a reader.
#pragma once

#include <memory>

#include "proto/catalog.pb.h"
#include "sql/catalog.h"
#include "sql/plan/view_plan.h"

namespace tidemark::sql {

struct StoredTable {
  pb::TableDefinition definition;
  ReadPlan read;
};
using StoredTablePtr = std::shared_ptr<const StoredTable>;

// A managed or external table is read as it is stored. Error: its definition makes no sense.
Result<StoredTablePtr> stored_table(const pb::TableDefinition& definition);
StoredTablePtr stored_view(const ViewPlan& plan);

// As the binder knows it: the columns that a reader sees. The key is named where it is visible.
TableSchemaPtr schema_of(const StoredTable& table);

ReadPlan clone(const ReadPlan& read);

}  // namespace tidemark::sql
