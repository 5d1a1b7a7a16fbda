// The catalog of a region: each version is what all its definitions say, however it was reached, and shares
// with the one before what is the same.
#include <gtest/gtest.h>

#include "base/random.h"
#include "node/region/table.h"

namespace tidemark {
namespace {

std::string described(const TableCatalog& catalog) {
  std::string out = "version " + std::to_string(catalog.version().value) + "\n";
  auto list = [&out](const char* what, const std::vector<TableId>& ids) {
    out += what;
    for (TableId id : ids) out += " " + std::to_string(id.value);
  };
  catalog.for_each([&](const Table& table) {
    out += std::to_string(table.id.value) + (table.feeds_views ? " feeds" : "");
    list(" from", table.backfill_sources);
    list(" derived", table.derived_in);
    list(" tops", table.tops);
    out += "\n";
  });
  return out;
}

// Tables, and views with an auxiliary table each, over what is there.
class Growth {
 public:
  explicit Growth(uint64_t seed) : random_(seed) {}

  pb::CatalogChange next() {
    pb::CatalogChange change;
    change.set_version(++version_);
    if (alive_.size() > 4 && random_.chance(0.3)) {
      drop(change);
    } else if (alive_.empty() || random_.chance(0.3)) {
      add(change, pb::MANAGED, pb::PUT);
    } else {
      add_view(change);
    }
    return change;
  }
  const std::vector<pb::TableDefinition>& alive() const { return alive_; }

 private:
  pb::TableDefinition& add(pb::CatalogChange& change, pb::TableKind kind, pb::RowRule rule) {
    pb::TableDefinition table;
    table.set_id(next_id_++);
    table.set_kind(kind);
    table.set_row_rule(rule);
    table.set_created(change.version());
    alive_.push_back(table);
    *change.add_tables() = table;
    return *change.mutable_tables(change.tables_size() - 1);
  }

  void add_view(pb::CatalogChange& change) {
    const uint32_t source = alive_[random_.below(alive_.size())].id();
    const uint32_t view = next_id_;
    add(change, pb::VIEW, random_.chance(0.5) ? pb::SUM : pb::TOP);
    add(change, pb::AUXILIARY, random_.chance(0.5) ? pb::MULTISET : pb::JOIN_SIDE);
    for (int i = 0; i < 2; ++i) {
      pb::TableDefinition& table = *change.mutable_tables(i);
      table.add_sources(i == 0 ? view + 1 : source);
      if (i == 1) table.set_view(view);
      if (table.row_rule() == pb::SUM) table.add_derived()->set_multiset(view + 1);
      if (table.row_rule() == pb::TOP) table.set_top_of(view + 1);
      alive_[alive_.size() - 2 + static_cast<size_t>(i)] = table;
    }
  }

  void drop(pb::CatalogChange& change) {
    const auto gone = alive_.begin() + static_cast<std::ptrdiff_t>(random_.below(alive_.size()));
    *change.add_tables() = *gone;
    change.mutable_tables(0)->set_dropped(change.version());
    alive_.erase(gone);
  }

  Random random_;
  uint64_t version_ = 0;
  uint32_t next_id_ = 1;
  std::vector<pb::TableDefinition> alive_;
};

TEST(TableCatalog, StepByStepIsTheSameAsAtOnce) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Growth growth(seed);
    TableCatalog catalog;
    for (int i = 0; i < 40; ++i) {
      const pb::CatalogChange change = growth.next();
      std::vector<TableId> dropped;
      ASSERT_TRUE(catalog.apply(change, dropped).ok());
      pb::Catalog whole;
      whole.set_version(change.version());
      for (const pb::TableDefinition& table : growth.alive()) *whole.add_tables() = table;
      Result<TableCatalog> at_once = TableCatalog::from_pb(whole);
      ASSERT_TRUE(at_once.ok());
      ASSERT_EQ(described(catalog), described(*at_once)) << "seed " << seed << " step " << i;
    }
  }
}

TEST(TableCatalog, OneMoreViewLeavesTheOthersAsTheyAre) {
  TableCatalog catalog;
  std::vector<TableId> dropped;
  auto create = [&](uint32_t id, pb::TableKind kind, uint32_t source) {
    pb::CatalogChange change;
    change.set_version(catalog.version().value + 1);
    pb::TableDefinition& table = *change.add_tables();
    table.set_id(id);
    table.set_kind(kind);
    if (source != 0) table.add_sources(source);
    ASSERT_TRUE(catalog.apply(change, dropped).ok());
  };
  create(1, pb::MANAGED, 0);
  create(2, pb::VIEW, 1);
  const TableCatalog before = catalog;
  for (uint32_t id = 3; id < 100; ++id) create(id, pb::VIEW, 1);
  EXPECT_EQ(catalog.find(TableId{1}), before.find(TableId{1}));
  EXPECT_EQ(catalog.find(TableId{2}), before.find(TableId{2}));
  EXPECT_EQ(before.find(TableId{3}), nullptr);
}

}  // namespace
}  // namespace tidemark
