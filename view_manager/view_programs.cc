#include "view_manager/view_programs.h"

#include <algorithm>

#include "base/assert.h"
#include "base/mutation.h"
#include "sql/plan/expressions.h"

namespace tidemark {

struct ViewPrograms::View {
  std::shared_ptr<const sql::ViewPlan> plan;
  std::vector<std::unique_ptr<Flow>> flows;
  Life life;
};

// Effects of base and view rows start where the view begins; those of its own auxiliary rows are never held
// back, since what they come from was not either.
bool ViewPrograms::Use::is_at(CatalogVersion version) const {
  const bool early = (own && !TM_MUTATION("auxiliary rows wait for begin(view)")) ||
                     TM_MUTATION("effects before begin(view)");
  const CatalogVersion from = early ? life->created : life->begun;
  return from.value != 0 && from <= version && (life->dropped.value == 0 || version < life->dropped);
}

ViewPrograms::ViewPrograms() = default;
ViewPrograms::~ViewPrograms() = default;

const sql::TableCodec& ViewPrograms::codec(TableId table) const {
  TM_ASSERT(table.value < codecs_.size() && codecs_[table.value], table);
  return *codecs_[table.value];
}

const sql::RowLayout& ViewPrograms::sum_layout(TableId table) const {
  return codec(table).layout();
}

void ViewPrograms::update(const pb::Catalog& catalog, std::vector<std::string>& failures) {
  if (CatalogVersion{catalog.version()} <= known_) return;
  size_t failed_before = failures.size();
  plans_.update(catalog, failures);
  if (failures.size() > failed_before) return;
  for (const pb::TableDefinition& definition : catalog.tables()) {
    if (codecs_.size() <= definition.id()) {
      codecs_.resize(definition.id() + size_t{1});
      views_.resize(codecs_.size());
    }
    std::unique_ptr<sql::TableCodec>& codec = codecs_[definition.id()];
    if (codec) continue;
    Result<sql::TableCodec> made = sql::TableCodec::make(definition);
    if (!made.ok()) {
      failures.push_back(definition.name() + ": " + made.error().message);
      return;
    }
    codec = std::make_unique<sql::TableCodec>(std::move(*made));
  }
  for (const pb::TableDefinition& definition : catalog.tables()) {
    if (definition.kind() != pb::VIEW) continue;
    std::unique_ptr<View>& view = views_[definition.id()];
    if (!view) view = compile(definition);
    view->life = {CatalogVersion{definition.created()}, CatalogVersion{definition.begun()},
                  CatalogVersion{definition.dropped()}};
  }
  known_ = CatalogVersion{catalog.version()};
}

std::unique_ptr<ViewPrograms::View> ViewPrograms::compile(const pb::TableDefinition& definition) {
  auto view = std::make_unique<View>();
  view->plan = plans_.view(TableId{definition.id()});
  TM_ASSERT(view->plan != nullptr, definition.id());
  const sql::TableCodec* errors = view->plan->errors.value == 0 ? nullptr : &codec(view->plan->errors);
  auto find = [this](TableId table) -> const sql::TableCodec& { return codec(table); };
  for (const sql::FlowPlan& flow : view->plan->flows) {
    view->flows.push_back(std::make_unique<Flow>(flow, find, errors));
  }
  index(TableId{definition.id()}, *view);
  return view;
}

bool ViewPrograms::knows(CatalogVersion version) const {
  return version <= known_;
}

// ---- the index

void ViewPrograms::index(TableId id, const View& view) {
  const TableId last{id.value + static_cast<uint32_t>(view.plan->tables.size()) - 1};
  for (const auto& flow : view.flows) {
    Use use{id, flow.get(), &view.life, true};
    if (flow->plan().source == sql::FlowSource::Join) {
      add_use(flow->plan().left, use);
      add_use(flow->plan().right, use);
      continue;
    }
    const TableId table = flow->plan().table;
    use.own = id <= table && table <= last;
    add_use(table, use);
  }
}

void ViewPrograms::add_use(TableId table, const Use& use) {
  if (index_.size() <= table.value) index_.resize(table.value + size_t{1});
  std::unique_ptr<Source>& source = index_[table.value];
  if (!source) {
    source = std::make_unique<Source>();
    source->codec = &codec(table);
  }
  const sql::FlowPlan& plan = use.flow->plan();
  std::vector<sql::ExpressionPtr> conjuncts;
  if (plan.filter && plan.source == sql::FlowSource::Table) {
    sql::split_conjuncts(sql::clone(*plan.filter), conjuncts);
  }
  for (const sql::ExpressionPtr& conjunct : conjuncts) {
    int column = 0;
    const sql::Expression* constant = sql::equality_with_constant(*conjunct, column);
    if (constant == nullptr || static_cast<size_t>(column) >= source->codec->columns().size()) continue;
    auto& all = source->by_constant;
    auto by = std::find_if(all.begin(), all.end(), [&](const Source::ByConstant& one) {
      return one.column == static_cast<size_t>(column);
    });
    if (by == all.end()) {
      all.emplace_back().column = static_cast<size_t>(column);
      by = all.end() - 1;
    }
    std::string key;
    sql::append_key(constant->constant.get(), sql::SortOrder::Ascending, key);
    by->uses[key].push_back(use);
    return;
  }
  source->always.push_back(use);
}

// ---- running

bool ViewPrograms::effects_of(const Change& change, const RecordContext& context, EffectWriter& out) {
  if (change.table.value >= index_.size() || !index_[change.table.value]) return true;
  const Source& source = *index_[change.table.value];
  context_.out = &out;
  context_.evaluation.arena.reset();
  sql::Arena& arena = context_.evaluation.arena;
  if (change.before && !source.codec->decode(change.key, *change.before, arena, before_).ok()) return false;
  if (change.after && !source.codec->decode(change.key, *change.after, arena, after_).ok()) return false;
  const bool has_before = change.before.has_value(), has_after = change.after.has_value();
  for (const Use& use : source.always) {
    if (!run(use, change, context, has_before, has_after)) return false;
  }
  for (const Source::ByConstant& by : source.by_constant) {
    if (!run_found(by, change, context, has_before, has_after)) return false;
  }
  return true;
}

bool ViewPrograms::run(const Use& use, const Change& change, const RecordContext& context, bool has_before,
                       bool has_after) {
  const CatalogVersion version = TM_MUTATION("catalog version ignored") ? known_ : context.catalog_version;
  if (!use.is_at(version)) return true;
  if (context.page_of.value != 0 && context.page_of != use.view) return true;
  if (!change.skipped_views.empty() && change.skips(use.view)) return true;
  ++flows_run_;
  const sql::Value* before = has_before ? before_.data() : nullptr;
  const sql::Value* after = has_after ? after_.data() : nullptr;
  if (use.flow->plan().source == sql::FlowSource::Join) {
    return use.flow->run_join(change, before, after, context_);
  }
  use.flow->run(before, after, context_);
  return true;
}

// Flows of the constant that the row had, and of the one that it has now: a flow has one constant, so none
// runs twice.
bool ViewPrograms::run_found(const Source::ByConstant& index, const Change& change,
                             const RecordContext& context, bool has_before, bool has_after) {
  auto run_all = [&](const std::string& constant) {
    auto found = index.uses.find(constant);
    if (found == index.uses.end()) return true;
    return std::all_of(found->second.begin(), found->second.end(),
                       [&](const Use& use) { return run(use, change, context, has_before, has_after); });
  };
  old_constant_.clear();
  new_constant_.clear();
  if (has_before) sql::append_key(before_[index.column], sql::SortOrder::Ascending, old_constant_);
  if (has_after) sql::append_key(after_[index.column], sql::SortOrder::Ascending, new_constant_);
  if (has_before && !run_all(old_constant_)) return false;
  return !has_after || (has_before && old_constant_ == new_constant_) || run_all(new_constant_);
}

void ViewPrograms::end_of_backfill(const RecordContext& context, EffectWriter& out) {
  const size_t id = context.page_of.value;
  if (id >= views_.size() || !views_[id]) return;
  context_.out = &out;
  context_.evaluation.arena.reset();
  // Several flows of a union may add to the same row: it is pinned once.
  std::vector<TableId> pinned;
  for (const auto& flow : views_[id]->flows) {
    const TableId table = flow->plan().sink.table;
    if (!flow->plan().sink.pinned || std::find(pinned.begin(), pinned.end(), table) != pinned.end()) continue;
    pinned.push_back(table);
    flow->pin(context_);
  }
}

}  // namespace tidemark
