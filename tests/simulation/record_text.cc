#include "tests/simulation/record_text.h"

#include "proto/change.h"
#include "proto/convert.h"

namespace tidemark::sim {
namespace {

constexpr size_t kTextMax = 300;  // Of what has no form of its own here.

class Describer {
 public:
  Describer(const Tables& tables, ShardCount shards) : tables_(tables), shards_(shards) {}

  void add(const pb::Commit& commit) {
    for (const pb::RequestMark& request : commit.requests()) {
      text_ += " request " + std::to_string(request.session().region()) + "/" +
               std::to_string(request.session().offset()) + "/" + std::to_string(request.number()) + ';';
    }
    for (const pb::AppliedBatch& batch : commit.batches()) {
      text_ += " batch for ";
      add(batch.part());
      for (const pb::LaneRun& run : batch.floors()) add(" floor ", run);
      for (const pb::LaneRun& run : batch.to()) add(" to ", run);
      text_ += ';';
    }
    add(commit.changes());
    if (commit.pending_joins_size() > 0) text_ += " pages follow";
  }

  void add(const std::string& changes) {
    Change change;
    for (ChangeReader reader(changes); reader.next(change);) {
      const std::string* name = tables_.name(change.table);
      text_ += " lane " + std::to_string(shards_.shard_of(change.hash).value) + ' ' +
               (name != nullptr ? *name : "table " + std::to_string(change.table.value)) + ' ' +
               row(name, change.key, change.before) + " -> " + row(name, change.key, change.after);
      if (!change.skipped_views.empty()) text_ += " (not for all)";
      text_ += ';';
    }
  }

  void add(const pb::BackfillPage& page) {
    text_ += " backfill of " + std::to_string(page.view()) + (page.last() ? ", last page" : "");
    add(page.changes());
  }

  void add(const google::protobuf::Message& other) {
    const std::string text = other.ShortDebugString();
    text_ += ' ' + (text.size() > kTextMax ? text.substr(0, kTextMax) + " ..." : text);
  }

  std::string text() && { return std::move(text_); }

 private:
  void add(const pb::ShardRange& range) {
    text_ += '[' + std::to_string(range.begin()) + ',' + std::to_string(range.end()) + ')';
  }

  void add(const char* what, const pb::LaneRun& run) {
    text_ += what;
    add(run.lanes());
    text_ += '@' + std::to_string(run.position().generation()) + '.' +
             std::to_string(run.position().offset()) + '.' + std::to_string(run.position().step());
  }

  std::string row(const std::string* table, std::string_view key,
                  std::optional<std::string_view> bytes) const {
    if (!bytes) return "none";
    if (table == nullptr || !tables_.is_known(*table)) return "?";  // Or dropped since.
    const std::optional<Row> row = tables_.decode(*table, key, *bytes);
    return row ? to_string(*row) : "hidden";
  }

  const Tables& tables_;
  ShardCount shards_;
  std::string text_;
};

}  // namespace

std::string describe(const SeenRecord& record, const Tables& tables, ShardCount shards) {
  Describer out(tables, shards);
  if (record.seal) out.add(*record.seal);
  if (!record.body) return std::move(out).text();
  if (record.body->has_commit()) {
    out.add(record.body->commit());
  } else if (record.body->has_backfill_page()) {
    out.add(record.body->backfill_page());
  } else if (record.body->has_join_page()) {
    out.add(record.body->join_page().changes());
  } else {
    out.add(*record.body);
  }
  return std::move(out).text();
}

}  // namespace tidemark::sim
