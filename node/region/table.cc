#include "node/region/table.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace tidemark {

// Makes the next version from the last one, whose tables it shares but for those that change.
class TableCatalog::Editor {
 public:
  explicit Editor(const Data& last) : data_(std::make_shared<Data>(last)) {}

  void add(const pb::TableDefinition& definition) {
    const TableId id{definition.id()};
    if (data_->by_id.size() <= id.value) data_->by_id.resize(id.value + size_t{1});
    Table& table = edit_or_add(id);
    table.id = id;
    table.rule = definition.row_rule();
    table.definition = std::make_shared<const pb::TableDefinition>(definition);
    table.feeds_views = table.feeds_views || table.rule == pb::JOIN_SIDE;
    added_.push_back(id);
  }

  bool drop(TableId id) {
    if (find(id) == nullptr) return false;
    data_->by_id[id.value].reset();
    dropped_ = true;
    return true;
  }

  // What a table is to others: only those that a new one names can have changed. What is left when one is
  // gone is found out anew.
  std::shared_ptr<const Data> finish(CatalogVersion version) {
    data_->version = version;
    if (dropped_) forget_links();
    for (TableId id : added_) {
      if (find(id) != nullptr) link(*find(id));
    }
    return data_;
  }

 private:
  const Table* find(TableId id) const {
    return id.value < data_->by_id.size() ? data_->by_id[id.value].get() : nullptr;
  }

  // Of this version alone.
  Table& edit_or_add(TableId id) {
    std::shared_ptr<Table>& own = edited_[id];
    if (!own) {
      own = find(id) != nullptr ? std::make_shared<Table>(*find(id)) : std::make_shared<Table>();
      data_->by_id[id.value] = own;
    }
    return *own;
  }
  Table* edit(uint32_t id) { return find(TableId{id}) == nullptr ? nullptr : &edit_or_add(TableId{id}); }

  void forget_links() {
    added_.clear();
    for (const TablePtr& table : data_->by_id) {
      if (table) added_.push_back(table->id);
    }
    for (TableId id : added_) {
      Table& table = edit_or_add(id);
      table.feeds_views = table.rule == pb::JOIN_SIDE;
      table.backfill_sources.clear();
      table.derived_in.clear();
      table.tops.clear();
    }
  }

  static void insert(std::vector<TableId>& into, TableId id) {
    auto place = std::lower_bound(into.begin(), into.end(), id);
    if (place == into.end() || *place != id) into.insert(place, id);
  }

  void link(const Table& table) {
    const pb::TableDefinition& definition = *table.definition;
    const bool is_view = definition.kind() == pb::VIEW;
    Table* view =
        is_view || definition.view() != 0 ? edit(is_view ? definition.id() : definition.view()) : nullptr;
    for (uint32_t number : definition.sources()) {
      const Table* source = find(TableId{number});
      if (source == nullptr) continue;
      if (!source->feeds_views) edit(number)->feeds_views = true;
      const bool brings_pages = view != nullptr && source->definition->kind() != pb::AUXILIARY;
      if (brings_pages) insert(view->backfill_sources, TableId{number});
    }
    for (const pb::DerivedColumn& derived : definition.derived()) {
      if (Table* multiset = edit(derived.multiset())) insert(multiset->derived_in, table.id);
    }
    if (table.rule != pb::TOP) return;
    if (Table* multiset = edit(definition.top_of())) insert(multiset->tops, table.id);
  }

  std::shared_ptr<Data> data_;
  std::map<TableId, std::shared_ptr<Table>> edited_;
  std::vector<TableId> added_;
  bool dropped_ = false;
};

const Table* TableCatalog::find(TableId id) const {
  return id.value < data_->by_id.size() ? data_->by_id[id.value].get() : nullptr;
}

const Table* TableCatalog::at_or_after(TableId id) const {
  for (size_t at = id.value; at < data_->by_id.size(); ++at) {
    if (data_->by_id[at]) return data_->by_id[at].get();
  }
  return nullptr;
}

Status TableCatalog::apply(const pb::CatalogChange& change, std::vector<TableId>& dropped) {
  if (change.version() != data_->version.value + 1) {
    return Error{"catalog version " + std::to_string(change.version()) + " does not follow " +
                 std::to_string(data_->version.value)};
  }
  Editor editor(*data_);
  for (const pb::TableDefinition& definition : change.tables()) {
    if (definition.dropped() == 0) {
      editor.add(definition);
    } else if (editor.drop(TableId{definition.id()})) {
      dropped.push_back(TableId{definition.id()});
    }
  }
  data_ = editor.finish(CatalogVersion{change.version()});
  return {};
}

Result<TableCatalog> TableCatalog::from_pb(const pb::Catalog& catalog) {
  std::set<uint32_t> ids;
  Editor editor{Data{}};
  for (const pb::TableDefinition& definition : catalog.tables()) {
    if (definition.dropped() != 0 || !ids.insert(definition.id()).second)
      return Error{"a catalog with dropped or equal tables"};
    editor.add(definition);
  }
  TableCatalog out;
  out.data_ = editor.finish(CatalogVersion{catalog.version()});
  return out;
}

void TableCatalog::to_pb(pb::Catalog& out) const {
  out.set_version(data_->version.value);
  for_each([&](const Table& table) { *out.add_tables() = *table.definition; });
}

pb::CatalogChange next_catalog_change(const pb::Catalog& catalog, CatalogVersion from) {
  uint64_t version = from.value + 1;
  pb::CatalogChange out;
  out.set_version(version);
  for (const pb::TableDefinition& definition : catalog.tables()) {
    bool concerned = definition.created() == version || definition.begun() == version ||
                     definition.paced() == version || definition.dropped() == version;
    if (!concerned) continue;
    pb::TableDefinition& table = *out.add_tables();
    if (definition.dropped() == version) {
      table.set_id(definition.id());
      table.set_dropped(version);
      continue;
    }
    table = definition;
    if (table.begun() > version) table.clear_begun();
    if (table.dropped() > version) table.clear_dropped();
  }
  return out;
}

}  // namespace tidemark
