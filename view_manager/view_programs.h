// All views, ready to run: which flows a change of a table concerns, at each version of the catalog. Views
// told apart by `column = constant` in WHERE are found by the constant, not by trying each.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "proto/catalog.pb.h"
#include "sql/plan/catalog_plans.h"
#include "sql/table/table_codec.h"
#include "view_manager/effect_program.h"
#include "view_manager/operators/flow.h"

namespace tidemark {

class ViewPrograms : public EffectProgram {
 public:
  ViewPrograms();
  ~ViewPrograms() override;

  // The catalog with everything that ever was: created, begun and dropped by version. Views that can not be
  // planned here are told in `failures`, and records of versions that have them wait.
  void update(const pb::Catalog& catalog, std::vector<std::string>& failures);

  bool knows(CatalogVersion version) const override;
  bool effects_of(const Change& change, const RecordContext& context, EffectWriter& out) override;
  void end_of_backfill(const RecordContext& context, EffectWriter& out) override;
  const sql::RowLayout& sum_layout(TableId table) const override;

 private:
  struct View;
  // A flow as one version of the catalog has it.
  struct Use {
    TableId view;
    Flow* flow = nullptr;
  };
  // The flows of one source table.
  struct Source {
    const sql::TableCodec* codec = nullptr;
    std::vector<Use> always;
    struct ByConstant {
      size_t column = 0;
      std::unordered_map<std::string, std::vector<Use>> uses;  // By the constant, encoded as a key.
    };
    std::vector<ByConstant> by_constant;
  };
  using Index = std::vector<std::unique_ptr<Source>>;  // By table id.

  void compile(const pb::TableDefinition& definition);
  const Index& index_of(CatalogVersion version);
  void add_use(Index& index, TableId table, const Use& use);
  bool run(const Use& use, const Change& change, const RecordContext& context, bool has_before,
           bool has_after);
  bool run_found(const Source::ByConstant& index, const Change& change, const RecordContext& context,
                 bool has_before, bool has_after);
  const sql::TableCodec& codec(TableId table) const;

  pb::Catalog catalog_;
  CatalogVersion known_;
  sql::CatalogPlans plans_;
  std::map<TableId, std::unique_ptr<sql::TableCodec>> codecs_;
  std::map<TableId, std::unique_ptr<View>> views_;
  std::map<CatalogVersion, Index> indexes_;  // The last few that were asked for.
  const Index* last_index_ = nullptr;
  CatalogVersion last_version_;

  OperatorContext context_;
  std::vector<sql::Value> before_, after_;
  std::string old_constant_, new_constant_;
};

}  // namespace tidemark
