#include "sql/session/page_fetch.h"

#include "sql/session/errors.h"

namespace tidemark::sql {

PageFetch::PageFetch(ServiceState& service, FetchSpec spec, std::function<void()> on_page)
    : service_(service),
      loop_(service.scheduler),
      spec_(std::move(spec)),
      on_page_(std::move(on_page)),
      give_up_{service.scheduler.now().value + kCatalogDeadline.value} {
  ask();
}

Result<PageFetch::State, SqlError> PageFetch::state() const {
  if (failure_) return *failure_;
  if (page_) return State::Ready;
  return at_ ? State::Pending : State::End;
}

std::string PageFetch::take() {
  TM_ASSERT(page_.has_value());
  std::string out = std::move(*page_);
  page_.reset();
  if (at_) ask();
  return out;
}

void PageFetch::ask() {
  if (spec_.key) {
    service_.client.get(spec_.table, {*spec_.key},
                        [this, alive = loop_.token()](Result<std::string, ClientFailure> rows) {
                          if (alive.expired()) return;
                          if (!rows.ok()) return on_failure(rows.error());
                          on_rows(std::move(*rows), std::nullopt);
                        });
    return;
  }
  ScanSpec scan;
  scan.table = spec_.table;
  scan.hash = spec_.hash;
  scan.key_prefix = spec_.key_prefix;
  scan.rows_max = spec_.rows_max;
  service_.client.scan(scan, *at_, [this, alive = loop_.token()](Result<RowPage, ClientFailure> page) {
    if (alive.expired()) return;
    if (!page.ok()) return on_failure(page.error());
    on_rows(std::move(page->rows), std::move(page->next));
  });
}

void PageFetch::on_rows(std::string rows, std::optional<ScanPosition> next) {
  at_ = std::move(next);
  page_ = std::move(rows);
  on_page_();
}

// A region that has not heard of a new table yet will soon.
void PageFetch::on_failure(const ClientFailure& failure) {
  const bool is_known = service_.catalog->table(spec_.table) != nullptr;
  if (failure.code == ClientError::StaleCatalog && is_known && loop_.now() < give_up_) {
    return loop_.post_after(kCatalogRetryDelay, [this] { ask(); });
  }
  failure_ = read_error(failure);
  on_page_();
}

}  // namespace tidemark::sql
