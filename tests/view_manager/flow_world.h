// Tables and views in one small store, without lanes and messages: what operators and plans do. Every view is
// compared with its query, run by the executor of ad-hoc reads over the base rows.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sql/plan/catalog_plans.h"
#include "tests/view_manager/naive_store.h"
#include "view_manager/view_programs.h"

namespace tidemark {

class FlowWorld {
 public:
  struct ColumnSpec {
    std::string name, type;
  };
  // The first columns are the key, distributed by the first of them.
  TableId create_table(const std::string& name, const std::vector<ColumnSpec>& columns,
                       size_t key_columns = 1);
  // Empty, or why not. Rows that are there already are paged into it.
  std::string create_view(const std::string& sql);
  void drop_view(const std::string& name);

  struct Write {
    std::string table;
    std::vector<std::string> values;  // As text, "NULL" for NULL; of a delete: the key.
    bool is_delete = false;
  };
  // All of them in one record.
  void write(const std::vector<Write>& writes);
  // Values as text, "NULL" for NULL.
  void upsert(const std::string& table, const std::vector<std::string>& values);
  void erase(const std::string& table, const std::string& key);

  // Sorted lines of "a|b|c".
  std::vector<std::string> read(const std::string& view);
  // The same of rows that are kept elsewhere, by key.
  std::vector<std::string> shown(const std::string& view, const std::map<std::string, std::string>& rows);
  std::vector<std::string> types(const std::string& view);
  std::vector<std::string> evaluate(const std::string& view);
  std::vector<std::string> errors(const std::string& view);
  // Empty, or the first view that differs.
  std::string check();

  ViewPrograms& programs() { return programs_; }
  const pb::Catalog& catalog() const { return catalog_; }
  NaiveStore& store() { return store_; }
  const pb::TableDefinition* find(const std::string& name) const;
  uint64_t effects() const { return effects_; }

 private:
  using Lines = std::vector<std::string>;

  void change(const Write& write, std::deque<OwnedChange>& changes);
  void propagate(std::deque<OwnedChange> changes, TableId page_of);
  void install();
  std::string line_of(const sql::Value* values, size_t count) const;

  pb::Catalog catalog_;
  NaiveStore store_;
  ViewPrograms programs_;
  sql::CatalogPlans plans_;
  uint64_t offset_ = 0, effects_ = 0;
};

}  // namespace tidemark
