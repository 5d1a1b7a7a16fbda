#include "sql/session/read_gate.h"

#include "sql/session/errors.h"

namespace tidemark::sql {

ReadGate::ReadGate(const Running& running, const Relation& query, std::function<void(SqlStatus)> open)
    : service_(running.service),
      session_(running.session),
      catalog_(running.statement->catalog()),
      tables_(tables_of(query)),
      open_(std::move(open)),
      loop_(running.service.scheduler) {}

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
  for (const TableSchemaPtr& table : tables_) {
    if (table->kind != SchemaKind::View || policy == OnBackfill::Read) continue;
    if (service_.catalog->is_readable(table->id)) continue;
    if (policy == OnBackfill::Fail) {
      return end(error(sqlstate::kObjectNotReady,
                       "materialized view \"" + table->name + "\" is still being filled",
                       "SET tidemark.backfill = wait to wait for it, or = read to read what is there."));
    }
    return service_.catalog_waiters.add(loop_.token(), [this] { check_filled(); });
  }
  end({});
}

void ReadGate::end(SqlStatus status) {
  loop_.post([this, status = std::move(status)] { open_(status); });
}

}  // namespace tidemark::sql
