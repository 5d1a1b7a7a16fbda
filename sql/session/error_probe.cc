#include "sql/session/error_probe.h"

#include "proto/rows.h"
#include "sql/session/errors.h"

namespace tidemark::sql {

namespace {
// Columns of an error set, as the planner makes it.
constexpr size_t kSqlState = 2;
constexpr size_t kMessage = 3;
}  // namespace

ErrorProbe::ErrorProbe(ServiceState& service, CatalogSnapshotPtr catalog, std::vector<CatalogTablePtr> views,
                       std::function<void(std::optional<SqlError>)> done)
    : service_(service),
      catalog_(std::move(catalog)),
      views_(std::move(views)),
      done_(std::move(done)),
      loop_(service.scheduler) {
  std::erase_if(views_, [](const CatalogTablePtr& view) { return view->plan->errors.value == 0; });
}

void ErrorProbe::start() {
  for (size_t i = 0; i < views_.size(); ++i) {
    for (const RegionPlace& place : service_.directory.places()) {
      const bool is_last = place.shards.end >= service_.shards.all().end;
      const uint64_t end = is_last ? UINT64_MAX : service_.shards.first_hash(place.shards.end);
      ask(i, ScanPosition{service_.shards.first_hash(place.shards.begin), std::nullopt}, end);
    }
  }
  if (asked_ == 0) finish(std::nullopt);
}

void ErrorProbe::ask(size_t view, const ScanPosition& from, uint64_t end) {
  ScanSpec spec;
  spec.table = views_[view]->plan->errors;
  spec.rows_max = 1;
  ++asked_;
  service_.client.scan(spec, from,
                       [this, alive = loop_.token(), view, from, end](Result<RowPage, ClientFailure> page) {
                         if (!alive.expired()) on_page(view, from, end, std::move(page));
                       });
}

void ErrorProbe::on_page(size_t view, const ScanPosition& from, uint64_t end,
                         Result<RowPage, ClientFailure> page) {
  --asked_;
  if (finished_) return;
  const bool is_known = service_.catalog->table(views_[view]->plan->errors) != nullptr;
  if (!page.ok() && page.error().code == ClientError::StaleCatalog && is_known) {
    ++asked_;  // The region has not heard of the view yet.
    return loop_.post_after(kCatalogRetryDelay, [this, view, from, end] {
      --asked_;
      ask(view, from, end);
    });
  }
  if (!page.ok()) return finish(read_error(page.error()));
  if (page->count > 0) return finish(describe(*views_[view], page->rows));
  // The region may have been split meanwhile: then its first part has answered only for itself.
  if (page->next && page->next->hash < end) return ask(view, *page->next, end);
  if (asked_ == 0) finish(std::nullopt);
}

SqlError ErrorProbe::describe(const CatalogTable& view, std::string_view rows) const {
  const std::string name = view.definition.name();
  SqlError out = error("XX000", "materialized view \"" + name + "\" has rows that could not be computed",
                       "SET tidemark.errors = ignore to read the others.");
  const CatalogTablePtr errors = catalog_->table(view.plan->errors);
  RowReader reader(rows);
  StoredRow stored;
  Arena arena;
  std::vector<Value> values;
  if (!errors || !reader.next(stored)) return out;
  if (!errors->codec->decode(stored.key, stored.row, arena, values).ok()) return out;
  out.state = std::string(values[kSqlState].as_bytes());
  out.detail = out.message + ".";
  out.message = std::string(values[kMessage].as_bytes());
  return out;
}

void ErrorProbe::finish(std::optional<SqlError> found) {
  finished_ = true;
  loop_.post([this, found = std::move(found)] { done_(found); });
}

}  // namespace tidemark::sql
