#include "sql/session/read_gate.h"

#include <algorithm>

#include "sql/session/errors.h"
#include "sql/session/token_paths.h"

namespace tidemark::sql {

namespace {
constexpr size_t kPathsMax = 200;
// While nobody is coordinator, it is not known.
constexpr Micros kFreshnessDeadline{2'000'000};

bool tells_freshness(const TableSchema& table) {
  return table.kind == SchemaKind::Virtual && table.schema == "tidemark" && table.name == "views";
}
}  // namespace

ReadGate::ReadGate(const Running& running, const Relation& query, std::function<void(SqlStatus)> open)
    : service_(running.service),
      session_(running.session),
      catalog_(running.statement->catalog()),
      tables_(tables_of(query)),
      open_(std::move(open)),
      loop_(running.service.scheduler) {
  for (const TableSchemaPtr& table : tables_) {
    if (table->kind == SchemaKind::View) views_.push_back(table->id);
  }
}

void ReadGate::start() {
  for (const TableSchemaPtr& table : tables_) {
    if (!session_.transaction.writes(table->id)) continue;
    return end(
        error(sqlstate::kFeatureNotSupported,
              "table \"" + table->name + "\" was written by this transaction and can not be read by it",
              "Commit first: writes of a transaction are made at its end."));
  }
  check_filled();
}

void ReadGate::check_filled() {
  const OnBackfill policy = session_.settings.on_backfill();
  for (TableId view : views_) {
    if (policy == OnBackfill::Read || service_.catalog->is_readable(view)) continue;
    if (policy == OnBackfill::Fail) {
      return end(error(
          sqlstate::kObjectNotReady,
          "materialized view \"" + catalog_->table(view)->definition.name() + "\" is still being filled",
          "SET tidemark.backfill = wait to wait for it, or = read to read what is there."));
    }
    return service_.catalog_waiters.add(loop_.token(), [this] { check_filled(); });
  }
  wait_for_all_rows();
}

// A view counts as filled once what its pages brought is with the first of the tables on the way. Through
// joins, and views that are filled at the same time, it still has to come; a token of no write waits for
// that.
void ReadGate::wait_for_all_rows() {
  if (session_.settings.on_backfill() != OnBackfill::Read) {
    for (TableId view : views_) {
      if (service_.complete_views.contains(view)) continue;
      for (TableId table : tables_behind(*catalog_, view)) {
        for (std::vector<TableId>& path : token_paths(*catalog_, table, view, kPathsMax)) {
          wait_for(std::move(path), {});
        }
      }
    }
  }
  wait_for_own_writes();
}

void ReadGate::wait_for_own_writes() {
  writes_ = session_.writes;
  if (session_.settings.waits_for_own_writes()) {
    for (TableId view : views_) {
      if (session_.seen_by[view] == writes_) continue;
      for (const auto& [table, tokens] : session_.tokens) {
        for (std::vector<TableId>& path : token_paths(*catalog_, table, view, kPathsMax)) {
          wait_for(std::move(path), tokens);
        }
      }
    }
  }
  if (waits_ == 0) look_for_errors();
}

void ReadGate::wait_for(std::vector<TableId> path, const LaneRuns& tokens) {
  ++waits_;
  service_.client.wait(std::move(path), tokens, std::nullopt,
                       [this, alive = loop_.token()](const Result<std::monostate, ClientFailure>& result) {
                         if (!alive.expired()) on_waited(result);
                       });
}

void ReadGate::on_waited(const Result<std::monostate, ClientFailure>& result) {
  if (ended_) return;
  if (!result.ok()) {
    return end(error(sqlstate::kUnavailable,
                     "the view does not reflect what it must yet: " + result.error().message,
                     "Read again; or do not wait: SET tidemark.wait = off, SET tidemark.backfill = read."));
  }
  if (--waits_ > 0) return;
  for (TableId view : views_) {
    if (session_.settings.waits_for_own_writes()) session_.seen_by[view] = writes_;
    if (session_.settings.on_backfill() != OnBackfill::Read) service_.complete_views.insert(view);
  }
  look_for_errors();
}

void ReadGate::look_for_errors() {
  std::vector<CatalogTablePtr> views;
  if (!session_.settings.ignores_errors()) {
    for (TableId view : views_) {
      for (CatalogTablePtr& one : views_behind(*catalog_, view)) views.push_back(std::move(one));
    }
  }
  probe_ = std::make_unique<ErrorProbe>(service_, catalog_, std::move(views),
                                        [this](std::optional<SqlError> found) {
                                          if (found) return end(*found);
                                          ask_freshness();
                                        });
  probe_->start();
}

void ReadGate::ask_freshness() {
  session_.freshness.Clear();
  if (std::none_of(tables_.begin(), tables_.end(), [](const auto& table) { return tells_freshness(*table); }))
    return end({});
  service_.changer.ask_freshness(loop_.token(), [this](const pb::FreshnessReply& told) {
    if (ended_) return;
    session_.freshness = told;
    end({});
  });
  loop_.post_after(kFreshnessDeadline, [this] {
    if (!ended_) end({});
  });
}

void ReadGate::end(SqlStatus status) {
  ended_ = true;
  loop_.post([this, status = std::move(status)] { open_(status); });
}

}  // namespace tidemark::sql
