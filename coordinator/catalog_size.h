// How much one version of the catalog may change. The log of each region gets a record per version, with what
// the version says of the tables that it concerns (node/region/table.h), and a record has a bound of its own
// (wal/wal.h) that no owner can pass: what does not fit must never become a version.
#pragma once

#include <cstddef>

#include "proto/catalog.pb.h"

namespace tidemark {

// Half of what a record can hold.
inline constexpr size_t kCatalogChangeBytesMax = 500'000;
// Of a table that is dropped.
inline constexpr size_t kCatalogDropBytes = 64;

// Of a table that is created, begun or paced: at most, with the versions that it gets before some region
// writes the record.
size_t catalog_change_bytes(const pb::TableDefinition& definition);

// Of the catalog's last version.
size_t last_change_bytes(const pb::Catalog& catalog);

}  // namespace tidemark
