#include "tests/simulation/workload.h"

#include <algorithm>
#include <set>

#include "proto/rows.h"

namespace tidemark::sim {

SimClient::SimClient(SimWorld& world, const std::string& name, ShardCount shards)
    : loop_(world.scheduler),
      coordination_(world, loop_, world.random.fork()),
      random_(world.random.fork()),
      transport_(world.network.connect(Address{name}, loop_)),
      directory_(std::make_unique<WatchedDirectory>(coordination_, loop_)) {
  ClientOptions options;
  options.shards = shards;
  options.reply_timeout = Micros{300'000};
  client_ = std::make_unique<Client>(loop_, *transport_, *directory_, random_, options);
}

Workload::Workload(Evidence& evidence, Random random, Listener listener)
    : evidence_(evidence), random_(random), listener_(std::move(listener)) {
  for (int i = 0; i < static_cast<int>(evidence.scenario.clients); ++i) {
    clients_.push_back(std::make_unique<SimClient>(evidence.cluster.world(), "c" + std::to_string(i),
                                                   evidence.cluster.options().shards));
  }
}

void Workload::act(CatalogVersion catalog) {
  ++counts_.operations;
  if (random_.chance(evidence_.scenario.reads)) {
    read();
  } else {
    write(catalog);
  }
}

Row Workload::random_row(int64_t id) {
  return {id, random_.between(0, static_cast<int64_t>(evidence_.scenario.groups) - 1), random_.between(0, 30),
          next_stamp_++};
}

void Workload::write(CatalogVersion catalog) {
  if (random_.chance(evidence_.scenario.conditional)) return write_conditionally(catalog);
  ClientWrite write;
  write.whole = random_.chance(evidence_.scenario.whole);
  WriteBatch batch;
  const int64_t rows = random_.between(1, static_cast<int64_t>(evidence_.scenario.batch_rows));
  std::set<std::string> taken;  // A row once per write: its order within one is of no interest.
  for (int64_t i = 0; i < rows; ++i) {
    const std::string table = random_.chance(0.5) ? "a" : "b";
    const Row row = random_row(random_key());
    if (!taken.insert(table + std::to_string(*row[0])).second) continue;
    if (write.whole && i > 0 && !is_near(write.rows[0], evidence_.tables.encode(table, row).hash)) continue;
    const bool deletes = random_.chance(evidence_.scenario.deletes);
    const bool inserts = write.whole && random_.chance(evidence_.scenario.conditional);
    add(table, row,
        deletes   ? OperationKind::Delete
        : inserts ? OperationKind::Insert
                  : OperationKind::Put,
        write, batch);
  }
  send(std::move(write), std::move(batch), catalog);
}

bool Workload::is_near(const RowWrite& row, uint64_t hash) const {
  const ShardCount shards = evidence_.cluster.options().shards;
  const auto quarter = [&](uint64_t of) { return shards.shard_of(of).value * 4 / shards.value; };
  return quarter(row.hash) == quarter(hash);
}

void Workload::write_conditionally(CatalogVersion catalog) {
  static constexpr OperationKind kKinds[] = {OperationKind::Insert, OperationKind::InsertIfAbsent,
                                             OperationKind::CompareAndPut, OperationKind::CompareAndPut,
                                             OperationKind::CompareAndDelete};
  ClientWrite write;
  WriteBatch batch;
  // Drawn one after the other: arguments of one call would be in an order of the compiler's.
  const OperationKind kind = kKinds[random_.below(std::size(kKinds))];
  const Row row = random_row(random_key());
  const char* table = random_.chance(0.5) ? "a" : "b";
  add(table, row, kind, write, batch);
  send(std::move(write), std::move(batch), catalog);
}

void Workload::add(const std::string& table, const Row& row, OperationKind kind, ClientWrite& write,
                   WriteBatch& batch) {
  const bool deletes = kind == OperationKind::Delete || kind == OperationKind::CompareAndDelete;
  const bool compares = kind == OperationKind::CompareAndPut || kind == OperationKind::CompareAndDelete;
  const sql::EncodedRow encoded = evidence_.tables.encode(table, row);
  RowWrite asked{kind, table, encoded.key, encoded.hash, deletes ? std::nullopt : row[3], {}, 0};
  sql::EncodedRow expected;
  Operation operation;
  operation.kind = kind;
  operation.table = evidence_.tables.id(table);
  operation.hash = encoded.hash;
  operation.key = encoded.key;
  if (!deletes) operation.row = encoded.row;
  if (compares) asked.expected = evidence_.history.row(table, encoded.key);  // As if it had been read.
  if (asked.expected) {
    expected = evidence_.tables.encode(table, *asked.expected);
    operation.expected = expected.row;
  }
  batch.add(operation);
  write.rows.push_back(std::move(asked));
}

void Workload::write_everywhere(CatalogVersion catalog) {
  const ShardCount shards = evidence_.cluster.options().shards;
  std::set<ShardId> left;
  for (ShardId lane = shards.all().begin; lane < shards.all().end; ++lane.value) left.insert(lane);
  for (int64_t id = 0; !left.empty(); ++id) {
    const Row row = random_row(id);
    if (left.erase(shards.shard_of(evidence_.tables.encode("a", row).hash)) == 0) continue;
    ClientWrite write;
    write.among_faults = false;
    WriteBatch batch;
    add("a", row, OperationKind::Put, write, batch);
    send(std::move(write), std::move(batch), catalog);
  }
}

void Workload::send(ClientWrite write, WriteBatch batch, CatalogVersion catalog) {
  write.number = next_number_++;
  write.begun = evidence_.now();
  ++in_flight_;
  listener_.on_begun(write);
  SimClient& client = *clients_[random_.below(clients_.size())];
  client->write(std::move(batch), catalog, write.whole ? Atomicity::Whole : Atomicity::PerRegion,
                [this, write, &client](Result<WriteOutcome, ClientFailure> outcome) {
                  on_written(write, client, outcome);
                });
}

void Workload::on_written(ClientWrite write, SimClient& client,
                          const Result<WriteOutcome, ClientFailure>& outcome) {
  --in_flight_;
  Heard heard = Heard::Acknowledged;
  if (!outcome.ok()) {
    const ClientError code = outcome.error().code;
    const bool sure = code != ClientError::OutcomeUnknown && (write.whole || write.rows.size() == 1);
    write.failed_row = outcome.error().operation;
    heard = !sure ? Heard::Unknown : code == ClientError::Failed ? Heard::Failed : Heard::NotDone;
  }
  static constexpr const char* kNames[] = {"acknowledged", "unknown", "failed", "not done"};
  uint64_t* counts[] = {&counts_.acknowledged, &counts_.unknown, &counts_.failed, &counts_.not_done};
  ++*counts[static_cast<size_t>(heard)];
  if (heard == Heard::Acknowledged) {
    for (size_t i = 0; i < write.rows.size(); ++i) {
      RowWrite& row = write.rows[i];
      row.affected = outcome->rows_affected[i];
      const ShardId lane = evidence_.cluster.options().shards.shard_of(row.hash);
      newest_[lane] = std::max(newest_[lane], outcome->tokens.at(lane));
      client.newest[lane] = std::max(client.newest[lane], outcome->tokens.at(lane));
    }
  }
  evidence_.trace.say("client: write", write.number, kNames[static_cast<size_t>(heard)],
                      outcome.ok() ? "" : outcome.error().message);
  listener_.on_answered(write, heard, outcome.ok() ? outcome->tokens : LaneRuns());
}

// Keys of one lane, so that what is seen must be a prefix of its history.
void Workload::read() {
  const ShardCount shards = evidence_.cluster.options().shards;
  ClientRead read;
  read.base = random_.chance(0.5) ? "a" : "b";
  read.table = read.base;
  read.begun = evidence_.now();
  for (const ViewSpec& view : evidence_.views) {
    const bool copies = view.kind == ViewKind::Copy || view.kind == ViewKind::CopyAgain;
    if (copies && view.name.ends_with("_" + read.base) && random_.chance(0.5)) read.table = view.name;
  }
  std::optional<ShardId> lane;
  const int64_t count = static_cast<int64_t>(evidence_.scenario.keys), first = random_key();
  for (int64_t i = 0; i < count && read.keys.size() < 5; ++i) {
    const sql::EncodedRow row = evidence_.tables.encode(read.base, {(first + i) % count, 0, 0, 0});
    if (!lane) lane = shards.shard_of(row.hash);
    if (lane == shards.shard_of(row.hash)) read.keys.push_back({row.hash, row.key});
  }
  read.lane = *lane;
  SimClient& client = *clients_[random_.below(clients_.size())];
  if (read.table == read.base) {  // It sees its own writes without a word.
    if (const auto own = client.newest.find(*lane); own != client.newest.end()) read.after = own->second;
    return get(std::move(read), client);
  }
  if (!random_.chance(evidence_.scenario.tokens) || !newest_.contains(*lane))
    return get(std::move(read), client);
  ++counts_.token_reads;
  read.after = newest_.at(*lane);
  LaneRuns tokens;
  tokens.set({*lane, ShardId{lane->value + 1}}, *read.after);
  // A copy's rows have the keys of the base rows: they lie in the same lane.
  client->wait(path_to(read), tokens, *lane, [this, read, &client](auto waited) mutable {
    if (!waited.ok()) {
      ++counts_.failed_reads;
      return;
    }
    get(std::move(read), client);
  });
}

std::vector<TableId> Workload::path_to(const ClientRead& read) const {
  std::vector<TableId> path{evidence_.tables.id(read.table)};
  if (read.table.starts_with("again_")) path.insert(path.begin(), evidence_.tables.id("copy_" + read.base));
  return path;
}

void Workload::await_tokens() {
  for (const ViewSpec& view : evidence_.views) {
    if (view.kind != ViewKind::Copy && view.kind != ViewKind::CopyAgain) continue;
    ClientRead read;
    read.table = view.name;
    read.base = view.name.substr(view.name.size() - 1);
    for (const auto& [lane, token] : newest_) {
      LaneRuns tokens;
      tokens.set({lane, ShardId{lane.value + 1}}, token);
      ++tokens_awaited_;
      (*clients_.front())->wait(path_to(read), tokens, lane, [this](auto waited) {
        if (waited.ok()) --tokens_awaited_;
      });
    }
  }
}

void Workload::get(ClientRead read, SimClient& client) {
  ++counts_.reads;
  const TableId table = evidence_.tables.id(read.table);
  client->get(table, read.keys, [this, read](Result<std::string, ClientFailure> rows) mutable {
    if (!rows.ok()) {
      ++counts_.failed_reads;
      return;
    }
    StoredRow row;
    for (RowReader reader(*rows); reader.next(row);) {
      const auto decoded = evidence_.tables.decode(read.table, row.key, row.row);
      if (decoded) read.found[std::string(row.key)] = *decoded;
    }
    listener_.on_read(read);
  });
}

}  // namespace tidemark::sim
