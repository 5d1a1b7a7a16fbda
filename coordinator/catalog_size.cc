#include "coordinator/catalog_size.h"

namespace tidemark {

namespace {

constexpr size_t kLaterBytes = 80;  // The record's tag and length, and five more numbers of the definition.

}  // namespace

size_t catalog_change_bytes(const pb::TableDefinition& definition) {
  return definition.ByteSizeLong() + kLaterBytes;
}

size_t last_change_bytes(const pb::Catalog& catalog) {
  const uint64_t version = catalog.version();
  size_t bytes = 0;
  for (const pb::TableDefinition& table : catalog.tables()) {
    if (table.dropped() == version) {
      bytes += kCatalogDropBytes;
    } else if (table.created() == version || table.begun() == version || table.paced() == version) {
      bytes += catalog_change_bytes(table);
    }
  }
  return bytes;
}

}  // namespace tidemark
