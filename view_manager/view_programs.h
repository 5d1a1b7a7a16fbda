// All views, ready to run: which flows a change of a table concerns, at each version of the catalog. Views
// told apart by `column = constant` in WHERE are found by the constant, not by trying each. A new view adds
// to the index; it is never made anew.
#pragma once

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

  // Flows that changes were given to, since the start: what the work is.
  uint64_t flows_run() const { return flows_run_; }

 private:
  struct View;
  // Versions of the catalog. 0: not yet.
  struct Life {
    CatalogVersion created, begun, dropped;
  };
  // A flow and a table whose changes it takes.
  struct Use {
    TableId view;
    Flow* flow = nullptr;
    const Life* life = nullptr;
    bool own = false;  // The table is one of the view's.

    bool is_at(CatalogVersion version) const;
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

  std::unique_ptr<View> compile(const pb::TableDefinition& definition);
  void index(TableId id, const View& view);
  void add_use(TableId table, const Use& use);
  bool run(const Use& use, const Change& change, const RecordContext& context, bool has_before,
           bool has_after);
  bool run_found(const Source::ByConstant& index, const Change& change, const RecordContext& context,
                 bool has_before, bool has_after);
  const sql::TableCodec& codec(TableId table) const;

  CatalogVersion known_;
  sql::CatalogPlans plans_;
  // By table id: they are dense.
  std::vector<std::unique_ptr<sql::TableCodec>> codecs_;
  std::vector<std::unique_ptr<View>> views_;
  std::vector<std::unique_ptr<Source>> index_;
  uint64_t flows_run_ = 0;

  OperatorContext context_;
  std::vector<sql::Value> before_, after_;
  std::string old_constant_, new_constant_;
};

}  // namespace tidemark
