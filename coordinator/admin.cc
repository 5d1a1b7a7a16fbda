#include "coordinator/admin.h"

#include <algorithm>

#include "coordinator/catalog_size.h"
#include "coordinator/json_writer.h"

namespace tidemark {

namespace {

using Words = std::vector<std::string>;

AdminAnswer say(int exit_code, const std::string& text) {
  AdminAnswer answer;
  answer.reply.set_exit_code(exit_code);
  answer.reply.set_out(text);
  return answer;
}

AdminAnswer say(const pb::AdminRequest& request, int exit_code, const std::string& key,
                const std::string& text) {
  if (!request.json()) return say(exit_code, text + "\n");
  JsonWriter json;
  json.object([&] { json.field(key, text); });
  return say(exit_code, json.text() + "\n");
}

AdminAnswer refuse(const pb::AdminRequest& request, const std::string& reason) {
  return say(request, 1, "refused", reason);
}
AdminAnswer misunderstand(const pb::AdminRequest& request, const std::string& reason) {
  return say(request, 2, "error", reason);
}
AdminAnswer agree(const pb::AdminRequest& request, const std::string& text) {
  return say(request, 0, "done", text);
}

const char* outcome_of(const pb::Operation& operation) {
  switch (operation.outcome()) {
    case pb::Operation::RUNNING: return "running";
    case pb::Operation::DONE: return "done";
    case pb::Operation::FAILED: return "failed";
    case pb::Operation::CANCELLED: return "cancelled";
    default: return "unknown";
  }
}

// How far an operation is; while it runs, the asker asks again.
AdminAnswer report(const Situation& now, const pb::AdminRequest& request, const pb::Operation& operation) {
  bool running = operation.outcome() == pb::Operation::RUNNING;
  std::string progress = running ? progress_of(now, operation) : operation.message();
  AdminAnswer answer;
  if (request.json()) {
    JsonWriter json;
    json.object([&] {
      json.field("operation", operation.id());
      json.field("what", title_of(operation));
      json.field("outcome", outcome_of(operation));
      json.field("progress", progress);
    });
    answer = say(0, json.text() + "\n");
  } else {
    std::string line = "operation " + std::to_string(operation.id()) + " " + title_of(operation) + ": ";
    line +=
        running ? progress : std::string(outcome_of(operation)) + (progress.empty() ? "" : ", " + progress);
    answer = say(0, line + "\n");
  }
  answer.reply.set_exit_code(operation.outcome() == pb::Operation::FAILED ? 1 : 0);
  answer.reply.set_operation(operation.id());
  answer.reply.set_more(running);
  return answer;
}

AdminAnswer begin(const Situation& now, const pb::AdminRequest& request, const Words& words) {
  auto operation = parse_operation(words);
  if (!operation.ok()) return misunderstand(request, operation.error().message);
  if (auto so = already_done(now, *operation)) return agree(request, *so);
  if (auto reason = refusal_of(now, *operation)) return refuse(request, *reason);
  ClusterFacts after = now.facts;
  uint64_t id = begin_operation(now, after, *operation);
  Situation then(after, now.observed, now.settings);
  AdminAnswer answer = report(then, request, *then.operation(id));
  answer.after = std::move(after);
  return answer;
}

AdminAnswer stage(const Situation& now, const pb::AdminRequest& request, Words words) {
  words.erase(words.begin());
  auto operation = parse_operation(words);
  if (!operation.ok()) return misunderstand(request, operation.error().message);
  const auto& staged = now.facts.staged.operations();
  auto same = std::find_if(staged.begin(), staged.end(),
                           [&](const pb::Operation& one) { return title_of(one) == title_of(*operation); });
  const bool is_new = same == staged.end();
  if (!is_new && same->SerializeAsString() == operation->SerializeAsString())
    return agree(request, title_of(*same) + " is staged already");
  // One with another weight or shard takes the place of the one before, also if it is so already.
  if (auto so = already_done(now, *operation); so && is_new) return agree(request, *so);
  if (auto reason = refusal_of(now, *operation)) return refuse(request, *reason);
  AdminAnswer answer = agree(request, "staged " + title_of(*operation) + (is_new ? "" : " anew"));
  answer.after = now.facts;
  auto& after = *answer.after->staged.mutable_operations();
  (is_new ? *after.Add() : after[static_cast<int>(same - staged.begin())]) = std::move(*operation);
  return answer;
}

// All of the staged, or none: each is checked as if those before it had begun.
AdminAnswer commit(const Situation& now, const pb::AdminRequest& request) {
  if (now.facts.staged.operations().empty()) return agree(request, "nothing is staged");
  ClusterFacts after = now.facts;
  after.staged.clear_operations();
  std::string begun;
  for (const auto& operation : now.facts.staged.operations()) {
    Situation then(after, now.observed, now.settings);
    if (already_done(then, operation)) continue;
    if (auto reason = refusal_of(then, operation))
      return refuse(request, title_of(operation) + ": " + *reason + "; nothing was begun");
    uint64_t id = begin_operation(then, after, operation);
    begun += (begun.empty() ? "" : ", ") + std::to_string(id) + " " + title_of(operation);
  }
  AdminAnswer answer = agree(request, begun.empty() ? "all of it is so already" : "begun: " + begun);
  answer.after = std::move(after);
  return answer;
}

std::optional<std::string> too_late(const Situation& now, const pb::Operation& operation) {
  const pb::RegionChange* change = now.change(operation.change());
  bool sealed = change && (change->phase() == pb::RegionChange::MERGE_SEAL_SECOND ||
                           now.log(change->parents(0)).value_or(LogView{}).sealed == change->id());
  if (sealed) return "it is past the point of no return, and will end by itself";
  if (operation.kind() == pb::Operation::RECOVER_VIEW_MANAGER ||
      operation.kind() == pb::Operation::RECOVER_NODE)
    return "the dead can not be called off";
  if (operation.kind() == pb::Operation::DISCARD_LOGS) return "it will be done in a moment";
  // It is not wished away: it may be the last one, and what is called off may be only another weight.
  if (operation.kind() == pb::Operation::ADD_VIEW_MANAGER && now.in_ring(operation.member()))
    return operation.member() + " is in the ring already: give it another weight by add-vm, or remove it";
  return std::nullopt;
}

// A removal is called off by wishing for the member again; everything else by its own end.
AdminAnswer cancel(const Situation& now, const pb::AdminRequest& request, const Words& words) {
  AdminAnswer answer = agree(request, "nothing is staged any more");
  answer.after = now.facts;
  if (words.size() == 1) {
    answer.after->staged.clear_operations();
    if (now.facts.staged.operations().empty()) answer.after.reset();
    return answer;
  }
  auto id = number_in(words[1]);
  if (words.size() > 2 || !id) return misunderstand(request, "usage: cancel [OPERATION]");
  for (auto& operation : *answer.after->operations.mutable_running()) {
    if (operation.id() != *id) continue;
    if (auto reason = too_late(now, operation)) return refuse(request, *reason);
    operation.set_cancelling(true);
    auto unleave = [&](auto* members) {
      for (auto& member : *members)
        if (member.name() == operation.member()) member.set_leaving(false);
    };
    if (operation.kind() == pb::Operation::REMOVE_VIEW_MANAGER)
      unleave(answer.after->wishes.mutable_view_managers());
    if (operation.kind() == pb::Operation::REMOVE_NODE) unleave(answer.after->wishes.mutable_nodes());
    // What was only wished for, and has not come, is not wished for any more.
    if (operation.kind() == pb::Operation::ADD_VIEW_MANAGER) {
      auto* wishes = answer.after->wishes.mutable_view_managers();
      for (auto& member : *wishes)
        if (member.name() == operation.member()) member.set_leaving(true);
    }
    answer.reply.set_out(agree(request, "operation " + words[1] + " is being cancelled").reply.out());
    return answer;
  }
  return refuse(request, "operation " + words[1] + " is not running");
}

AdminAnswer pace_backfill(const Situation& now, const pb::AdminRequest& request, const Words& words) {
  auto pace = parse_pace(words);
  if (!pace.ok()) return misunderstand(request, pace.error().message);
  auto paced = set_pace(now.facts.catalog, words[1], *pace);
  if (!paced.ok()) return refuse(request, paced.error().message);
  AdminAnswer answer = agree(request, paced->text);
  if (!paced->after) return answer;
  answer.after = now.facts;
  answer.after->catalog = std::move(*paced->after);
  return answer;
}

AdminAnswer rejoin(const Situation& now, const pb::AdminRequest& request) {
  const pb::Operation* operation = now.operation(request.operation());
  if (!operation) return refuse(request, "there is no operation " + std::to_string(request.operation()));
  return report(now, request, *operation);
}

}  // namespace

AdminAnswer answer_admin(const Situation& now, const pb::AdminRequest& request) {
  Words words(request.words().begin(), request.words().end());
  if (request.operation() != 0) return rejoin(now, request);
  if (words.empty()) return misunderstand(request, "no command");
  if (!is_bootstrapped(now.facts))
    return refuse(request, "there is no cluster yet: it waits for " +
                               std::to_string(std::max(1u, now.settings.nodes_min)) + " nodes and " +
                               std::to_string(std::max(1u, now.settings.view_managers_min)) +
                               " view managers");
  const std::string& verb = words[0];
  bool alone = words.size() == 1;
  if (verb == "status" && alone) return say(0, request.json() ? status_json(now) : status_text(now));
  if (verb == "history" && alone) return say(0, request.json() ? history_json(now) : history_text(now));
  if (verb == "plan" && alone) return say(0, request.json() ? plan_json(now) : plan_text(now));
  if (verb == "commit" && alone) return commit(now, request);
  if (verb == "stage") return stage(now, request, words);
  if (verb == "cancel") return cancel(now, request, words);
  if (verb == "backfill") return pace_backfill(now, request, words);
  return begin(now, request, words);
}

Result<pb::Catalog> change_catalog(const pb::Catalog& catalog, const pb::CatalogRequest& request) {
  if (request.expects_version() != catalog.version())
    return Error{"the catalog is at version " + std::to_string(catalog.version()) + " by now"};
  pb::Catalog next = catalog;
  next.set_version(catalog.version() + 1);
  for (uint32_t id : request.drop()) {
    auto table = std::find_if(next.mutable_tables()->begin(), next.mutable_tables()->end(),
                              [&](const auto& one) { return one.id() == id && one.dropped() == 0; });
    if (table == next.mutable_tables()->end()) return Error{"there is no table " + std::to_string(id)};
    table->set_dropped(next.version());
  }
  for (const auto& wanted : request.pace()) {
    auto view =
        std::find_if(next.mutable_tables()->begin(), next.mutable_tables()->end(),
                     [&](const auto& one) { return one.id() == wanted.view() && one.dropped() == 0; });
    if (view == next.mutable_tables()->end() || view->kind() != pb::VIEW)
      return Error{"there is no view " + std::to_string(wanted.view())};
    view->clear_backfill_rows_per_second();
    if (wanted.has_rows_per_second()) view->set_backfill_rows_per_second(wanted.rows_per_second());
    view->set_paced(next.version());
  }
  auto is_alive = [&](const pb::TableDefinition& table) { return table.dropped() == 0; };
  for (const auto& wanted : request.create()) {
    if (wanted.id() < catalog.next_id())
      return Error{"table number " + std::to_string(wanted.id()) + " was used before"};
    for (const auto& table : next.tables()) {
      if (table.id() == wanted.id())
        return Error{"two tables have the number " + std::to_string(wanted.id())};
      bool is_beside = table.id() == wanted.replaces() && table.kind() == pb::VIEW;
      if (is_alive(table) && !table.name().empty() && table.name() == wanted.name() && !is_beside)
        return Error{"there is a table \"" + wanted.name() + "\" already"};
    }
    pb::TableDefinition& table = *next.add_tables();
    table = wanted;
    table.set_created(next.version());
    table.set_dropped(0);
    table.set_filled(0);
    table.set_paced(0);
    bool derived = wanted.kind() == pb::VIEW || wanted.kind() == pb::AUXILIARY;
    table.set_begun(derived ? 0 : next.version());
    next.set_next_id(std::max(next.next_id(), wanted.id() + 1));
  }
  for (const auto& table : next.tables()) {
    if (!is_alive(table)) continue;
    for (uint32_t source : table.sources()) {
      bool there = std::any_of(next.tables().begin(), next.tables().end(),
                               [&](const auto& one) { return one.id() == source && is_alive(one); });
      if (!there) return Error{"\"" + table.name() + "\" needs table " + std::to_string(source)};
    }
  }
  const size_t bytes = last_change_bytes(next);
  if (bytes > kCatalogChangeBytesMax) {
    return Error{"the definitions take " + std::to_string(bytes) +
                 " bytes, and one change of the catalog has " + "room for " +
                 std::to_string(kCatalogChangeBytesMax) +
                 ": write a shorter statement, or change fewer tables at once"};
  }
  return next;
}

}  // namespace tidemark
