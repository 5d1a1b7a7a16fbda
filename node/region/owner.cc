#include "node/region/owner.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/buggify.h"

namespace tidemark {

RegionOwner::RegionOwner(const RegionState& durable, RowStore& rows, RowArithmetic& arithmetic,
                         const RegionOptions& options, const RegionInputs& inputs, Offset incarnation,
                         MapVersion version)
    : durable_(durable),
      options_(options),
      inputs_(inputs),
      incarnation_(incarnation),
      version_(version),
      ahead_(durable),
      rows_(overlay_, rows),
      maker_(ahead_, rows_, arithmetic, {options.page_bytes_max / 2, options.join_page_matches_max}),
      queue_(Offset{incarnation.value + 1},
             {options.record_bytes_max, options.in_flight_bytes_max, options.in_flight_records_max}),
      progress_at_(inputs.now),
      recorded_(durable.committed()),
      opened_at_(inputs.now) {}

void RegionOwner::on_applied(Offset at, RegionCommands& out) {
  overlay_.release(at);
  held_.release(at, out);
  recorded_.raise(durable_.committed());
  has_news_ = true;
}

void RegionOwner::give_up(RegionCommands& out) {
  held_.give_up(identity().region, out);
  for (const TokenWait& wait : waits_) {
    send(out, wait.asker, refuse(pb::OPENING, "the region is being opened again"));
  }
}

void RegionOwner::close_commit() {
  if (!queue_.is_open()) return;
  Offset at = queue_.next();
  auto body = queue_.close(ahead_.catalog().version(), inputs_.time_of_day_micros);
  if (!body->commit().changes().empty()) ahead_.note_change(at);
}

pb::Commit& RegionOwner::commit_changes(size_t more) {
  size_t bytes = maker_.changes().size() + more;
  if (!queue_.fits(bytes) || TM_BUGGIFY("region: a record is closed early")) close_commit();
  maker_.commit(queue_.next());
  return queue_.add(maker_.changes(), bytes, inputs_.now);
}

// A record that says nothing, if nothing is in flight: what is answered now is told once it is durable. By
// what it has one that was replaced may be wrong, and would never know.
void RegionOwner::prove_ownership() {
  if (!queue_.last()) raise({});
}

Position RegionOwner::last_change() const {
  if (queue_.has_changes()) return {identity().generation, Offset{queue_.next().value + 1}, 0};
  return ahead_.last_change();
}

Offset RegionOwner::append_control(pb::RecordBody body) {
  close_commit();
  body.set_catalog_version(ahead_.catalog().version().value);
  body.set_written_at_micros(inputs_.time_of_day_micros);
  auto shared = std::make_shared<const pb::RecordBody>(std::move(body));
  Offset at = queue_.append(shared);
  if (shared->has_catalog()) {
    std::vector<TableId> dropped;
    Status applied = ahead_.apply_catalog(shared->catalog(), dropped);
    TM_ASSERT(applied.ok(), at);
  } else {
    Status applied = ahead_.apply_control(at, *shared);
    TM_ASSERT(applied.ok(), at);
  }
  return at;
}

void RegionOwner::on_tick(RegionCommands& out) {
  follow_facts(out);
  if (serves()) {
    write_join_pages();
    write_backfill_page();
    record_progress(out);
  }
  serve_those_who_wait(out);
  // While nothing is in flight a commit goes at once; else it may grow for a while.
  bool due =
      queue_.is_open() &&
      (queue_.sent() == 0 || inputs_.now >= Micros{queue_.opened_at().value + options_.commit_delay.value});
  if (due) close_commit();
  queue_.send(out);
}

std::optional<Micros> RegionOwner::next_tick() const {
  std::optional<Micros> out;
  auto at = [&out](Micros from, Micros delay) {
    Micros when{from.value + delay.value};
    if (!out || when < *out) out = when;
  };
  if (queue_.is_open()) at(queue_.opened_at(), options_.commit_delay);
  // While a seal is in flight nothing is recorded or united, however long it takes.
  if (has_reports_ && serves()) at(progress_at_, options_.progress_interval);
  if (ahead_.parts().size() > 1 && serves())
    at(unify_asked_at_.value_or(inputs_.now), options_.unify_interval);
  if (std::optional<Micros> due = next_page_due(); due && serves()) at(*due, Micros{0});
  for (const TokenWait& wait : waits_) at(wait.asked_at.value_or(inputs_.now), options_.ask_interval);
  return out;
}

}  // namespace tidemark
