#include "sql/session/row_writer.h"

#include <set>

#include "base/row_limits.h"
#include "proto/rows.h"
#include "sql/session/errors.h"

namespace tidemark::sql {

namespace {

constexpr size_t kChunkRowsMax = 1000;
constexpr size_t kChunkBytesMax = size_t{512} << 10;
constexpr size_t kChunksMax = 4;
constexpr int kAttemptsMax = 1000;  // Of a row that others change all the time.

std::vector<ExpressionPtr> values_of(const std::vector<BoundAssignment>& set) {
  std::vector<ExpressionPtr> out;
  for (const BoundAssignment& assignment : set) out.push_back(clone(*assignment.value));
  return out;
}

}  // namespace

SqlStatus check_not_null(const TableSchema& table, const Value* row) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].not_null || !row[i].is_null()) continue;
    return error(sqlstate::kNotNullViolation, "null value in column \"" + table.columns[i].name +
                                                  "\" of relation \"" + table.name +
                                                  "\" violates not-null constraint");
  }
  return {};
}

SqlStatus check_size(const EncodedRow& row) {
  const size_t size = row.key.size() + row.row.size();
  if (size <= kRowBytesMax) return {};
  return error(sqlstate::kProgramLimitExceeded, "a row of " + std::to_string(size) +
                                                    " bytes is larger than the limit of " +
                                                    std::to_string(kRowBytesMax) + " bytes");
}

SqlError duplicate_key(const TableSchema& table) {
  return error(sqlstate::kUniqueViolation,
               "duplicate key value violates unique constraint \"" + table.name + "_pkey\"");
}

struct RowWriter::Chunk {
  std::vector<EncodedRow> rows;
  std::vector<Value> values;    // All columns of each row.
  std::vector<Value> returned;  // All of RETURNING of each row that is to be written.
  std::vector<bool> is_written;
  Arena arena;
  size_t bytes = 0;
  int attempts = 0;
  std::set<std::string> keys;
};

RowWriter::RowWriter(Running& running, Rules rules, Outside outside)
    : running_(running),
      rules_(std::move(rules)),
      outside_(std::move(outside)),
      table_(running.statement->catalog()->table(rules_.table->id)),
      params_(running.params()),
      evaluation_(running.evaluation(params_)),
      loop_(running.service.scheduler),
      writer_(running.service) {
  TM_ASSERT(table_ != nullptr);
  if (rules_.insert == nullptr) return;
  conflict_set_ = Program(values_of(rules_.insert->conflict_set));
  if (rules_.insert->conflict_where) conflict_where_ = Program(*rules_.insert->conflict_where);
  returning_ = Program(rules_.insert->returning.expressions);
}

RowWriter::~RowWriter() = default;

SqlStatus RowWriter::add(const Value* row) {
  TM_TRY(check_not_null(*rules_.table, row));
  if (!open_) open_ = std::make_shared<Chunk>();
  Chunk& chunk = *open_;
  const size_t width = rules_.table->columns.size();
  EncodedRow encoded;
  table_->codec->encode({row, width}, encoded);
  TM_TRY(check_size(encoded));
  if (rules_.on_conflict != ast::ConflictAction::Error && !chunk.keys.insert(encoded.key).second) {
    if (rules_.on_conflict == ast::ConflictAction::Nothing) return {};  // The first is there by then.
    return error(sqlstate::kCardinalityViolation,
                 "ON CONFLICT DO UPDATE command cannot affect row a second time",
                 "Ensure that no rows proposed for insertion within the same command have duplicate "
                 "constrained values.");
  }
  for (size_t i = 0; i < width; ++i) chunk.values.push_back(row[i].copy_into(chunk.arena));
  chunk.bytes += encoded.key.size() + encoded.row.size();
  chunk.rows.push_back(std::move(encoded));
  if (chunk.rows.size() >= kChunkRowsMax || chunk.bytes >= kChunkBytesMax) launch();
  return {};
}

// Those that return rows, and those that read first, keep their order.
size_t RowWriter::chunks_max() const {
  const bool in_order = rules_.on_conflict == ast::ConflictAction::Update || returning_.result_count() > 0;
  return in_order ? 1 : kChunksMax;
}

bool RowWriter::is_full() const {
  return in_flight_ >= chunks_max();
}

void RowWriter::finish() {
  finishing_ = true;
  if (open_) launch();
  loop_.post([this] { end_if_over(); });
}

void RowWriter::launch() {
  ChunkPtr chunk = std::move(open_);
  open_.reset();
  chunk->is_written.resize(chunk->rows.size());
  chunk->returned.resize(chunk->rows.size() * returning_.result_count());
  ++in_flight_;
  // Of rows that are there already nothing is returned, so that nothing may fail for them.
  const bool must_read = rules_.on_conflict == ast::ConflictAction::Update ||
                         (rules_.on_conflict == ast::ConflictAction::Nothing &&
                          (running_.session.transaction.is_open() || returning_.result_count() > 0));
  if (!must_read) return insert(chunk);
  Indexes all(chunk->rows.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  modify(chunk, std::move(all));
}

// ---- without reading

void RowWriter::insert(const ChunkPtr& chunk) {
  const bool if_absent = rules_.on_conflict == ast::ConflictAction::Nothing;
  Transaction& transaction = running_.session.transaction;
  std::vector<OwnedOperation> operations;
  for (size_t i = 0; i < chunk->rows.size(); ++i) {
    if (SqlStatus computed = compute_returning(*chunk, i); !computed.ok()) return fail(computed.error());
    const EncodedRow& row = chunk->rows[i];
    OwnedOperation& operation = operations.emplace_back();
    operation.kind = if_absent ? OperationKind::InsertIfAbsent : OperationKind::Insert;
    operation.table = rules_.table->id;
    operation.hash = row.hash;
    operation.key = row.key;
    operation.row = row.row;
  }
  if (!transaction.is_open()) {
    const CatalogVersion version{table_->definition.created()};
    return writer_.write(std::move(operations), version, Grouping::Together,
                         [this, chunk](const WriteResult& result) { on_inserted(chunk, result); });
  }
  for (OwnedOperation& operation : operations) {
    if (SqlStatus added = transaction.add(std::move(operation)); !added.ok()) return fail(added.error());
  }
  chunk->is_written.assign(chunk->rows.size(), true);
  loop_.post([this, chunk] { complete(chunk); });
}

void RowWriter::on_inserted(const ChunkPtr& chunk, const WriteResult& result) {
  running_.session.note_write(rules_.table->id, result.tokens);
  for (size_t i = 0; i < result.operations.size(); ++i) {
    const OperationResult& one = result.operations[i];
    if (one.failure) {
      const bool is_duplicate = state_of(*one.failure) == sqlstate::kUniqueViolation;
      return fail(is_duplicate ? duplicate_key(*rules_.table) : write_error(*one.failure));
    }
    chunk->is_written[i] = one.rows_affected > 0;
  }
  complete(chunk);
}

// ---- read, decide, write

void RowWriter::modify(const ChunkPtr& chunk, Indexes indexes) {
  if (chunk->attempts++ == kAttemptsMax) {
    return fail(error(sqlstate::kSerializationFailure, "the rows are changed by others all the time"));
  }
  std::vector<KeyOfTable> keys;
  for (size_t i : indexes) keys.push_back({chunk->rows[i].hash, chunk->rows[i].key});
  running_.service.client.get(
      rules_.table->id, std::move(keys),
      [this, alive = loop_.token(), chunk, indexes](Result<std::string, ClientFailure> rows) {
        if (alive.expired()) return;
        if (rows.ok()) return on_read(chunk, indexes, *rows);
        const bool is_known = running_.service.catalog->table(rules_.table->id) != nullptr;
        if (rows.error().code != ClientError::StaleCatalog || !is_known)
          return fail(read_error(rows.error()));
        loop_.post_after(kCatalogRetryDelay, [this, chunk, indexes] { modify(chunk, indexes); });
      });
}

void RowWriter::on_read(const ChunkPtr& chunk, const Indexes& indexes, std::string_view rows) {
  std::map<std::string, std::string, std::less<>> present;
  StoredRow stored;
  for (RowReader reader(rows); reader.next(stored);) present.emplace(stored.key, stored.row);

  Transaction& transaction = running_.session.transaction;
  std::vector<OwnedOperation> operations;
  Indexes written;
  for (size_t i : indexes) {
    const std::string& key = chunk->rows[i].key;
    std::optional<std::string> there;
    if (auto found = present.find(key); found != present.end()) there = found->second;
    if (auto own = transaction.find(rules_.table->id, key)) there = own->row;
    Result<std::optional<OwnedOperation>, SqlError> decided = decide(*chunk, i, there);
    if (!decided.ok()) return fail(decided.error());
    if (!*decided) continue;
    written.push_back(i);
    if (!transaction.is_open()) {
      operations.push_back(std::move(**decided));
      continue;
    }
    chunk->is_written[i] = true;
    if (SqlStatus added = transaction.add(std::move(**decided)); !added.ok()) return fail(added.error());
  }
  if (operations.empty()) return complete(chunk);
  const CatalogVersion version{table_->definition.created()};
  writer_.write(std::move(operations), version, Grouping::Alone,
                [this, chunk, written](const WriteResult& result) { on_modified(chunk, written, result); });
}

Result<std::optional<OwnedOperation>, SqlError> RowWriter::decide(Chunk& chunk, size_t index,
                                                                  const std::optional<std::string>& present) {
  if (present) {
    bool wanted = false;
    if (rules_.on_conflict == ast::ConflictAction::Update)
      TM_TRY(set_updated(chunk, index, *present, wanted));
    if (!wanted) return std::optional<OwnedOperation>();
  }
  TM_TRY(compute_returning(chunk, index));
  const EncodedRow& row = chunk.rows[index];
  OwnedOperation out;
  out.kind = OperationKind::CompareAndPut;
  out.table = rules_.table->id;
  out.hash = row.hash;
  out.key = row.key;
  out.row = row.row;
  out.expected = present;
  return std::optional<OwnedOperation>(std::move(out));
}

// DO UPDATE: the row that is there, changed. If it loses a race, the row that was to be inserted is still
// needed: it is kept in the chunk's values until the write is done.
SqlStatus RowWriter::set_updated(Chunk& chunk, size_t index, const std::string& present, bool& wanted) {
  const size_t width = rules_.table->columns.size();
  EncodedRow& encoded = chunk.rows[index];
  std::vector<Value> both;
  Arena arena;
  evaluation_.arena.reset();
  Fault fault = table_->codec->decode(encoded.key, present, arena, both);
  if (!fault.ok()) return to_error(fault);
  both.insert(both.end(), chunk.values.begin() + static_cast<ptrdiff_t>(index * width),
              chunk.values.begin() + static_cast<ptrdiff_t>((index + 1) * width));
  const RowInput input(both.data());
  if (conflict_where_.result_count() > 0) {
    Value keep;
    fault = conflict_where_.run(evaluation_, input, keep);
    if (!fault.ok()) return evaluation_.take_error(fault);
    if (keep.is_null() || !keep.as_bool()) return {};
  }
  std::vector<Value> results(conflict_set_.result_count());
  fault = conflict_set_.run(evaluation_, input, results);
  if (!fault.ok()) return evaluation_.take_error(fault);
  std::vector<Value> updated(both.begin(), both.begin() + static_cast<ptrdiff_t>(width));
  for (size_t i = 0; i < results.size(); ++i) {
    updated[static_cast<size_t>(rules_.insert->conflict_set[i].column)] = results[i];
  }
  TM_TRY(check_not_null(*rules_.table, updated.data()));
  table_->codec->encode(updated, encoded);
  wanted = true;
  return check_size(encoded);
}

void RowWriter::on_modified(const ChunkPtr& chunk, const Indexes& indexes, const WriteResult& result) {
  running_.session.note_write(rules_.table->id, result.tokens);
  Indexes again;
  for (size_t k = 0; k < indexes.size(); ++k) {
    const std::optional<ClientFailure>& failure = result.operations[k].failure;
    if (!failure) {
      chunk->is_written[indexes[k]] = true;
    } else if (state_of(*failure) == sqlstate::kSerializationFailure) {
      again.push_back(indexes[k]);
    } else {
      return fail(write_error(*failure));
    }
  }
  if (again.empty()) return complete(chunk);
  // A row that was to be updated may have to be inserted now.
  const size_t width = rules_.table->columns.size();
  for (size_t i : again) {
    table_->codec->encode({chunk->values.data() + i * width, width}, chunk->rows[i]);
  }
  modify(chunk, std::move(again));
}

// ---- the end

void RowWriter::complete(const ChunkPtr& chunk) {
  if (ended_) return;
  --in_flight_;
  for (bool written : chunk->is_written) rows_written_ += written ? 1 : 0;
  give_returning(*chunk);
  if (finishing_) return end_if_over();
  outside_.on_room();
}

SqlStatus RowWriter::compute_returning(Chunk& chunk, size_t index) {
  if (returning_.result_count() == 0) return {};
  evaluation_.arena.reset();
  const EncodedRow& row = chunk.rows[index];
  std::vector<Value> values, results(returning_.result_count());
  Fault fault = table_->codec->decode(row.key, row.row, evaluation_.arena, values);
  if (!fault.ok()) return to_error(fault);
  fault = returning_.run(evaluation_, RowInput(values.data()), results);
  if (!fault.ok()) return evaluation_.take_error(fault);
  for (size_t i = 0; i < results.size(); ++i) {
    chunk.returned[index * results.size() + i] = results[i].copy_into(chunk.arena);
  }
  if (chunk.arena.used_bytes() <= running_.service.query_bytes_max) return {};
  return error(sqlstate::kOutOfMemory, "RETURNING needs more memory than a query may have",
               "Return less, or write fewer rows at once.");
}

void RowWriter::give_returning(const Chunk& chunk) {
  const size_t width = returning_.result_count();
  for (size_t i = 0; width > 0 && i < chunk.rows.size(); ++i) {
    if (chunk.is_written[i]) running_.sink.row({chunk.returned.data() + i * width, width});
  }
}

void RowWriter::fail(const SqlError& failure) {
  if (ended_) return;
  ended_ = true;
  loop_.post([this, failure] { outside_.on_end(failure); });
}

void RowWriter::end_if_over() {
  if (ended_ || in_flight_ > 0) return;
  ended_ = true;
  outside_.on_end({});
}

}  // namespace tidemark::sql
