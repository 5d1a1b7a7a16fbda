#include "sql/session/cluster_source.h"

#include <algorithm>

#include "proto/rows.h"
#include "sql/expr/program.h"
#include "sql/session/errors.h"
#include "sql/session/page_fetch.h"

namespace tidemark::sql {

namespace {

// No record holds a row with a longer key, of a table or a view; a message with one might be too long to
// send.
constexpr size_t kKeyBytesMax = size_t{1} << 20;

// From stored rows to what a reader sees: the view's ReadPlan.
class RowDecoder {
 public:
  explicit RowDecoder(CatalogTablePtr table) : table_(std::move(table)) {
    const ReadPlan& read = table_->stored->read;
    is_plain_ = table_->plan == nullptr;
    if (is_plain_) return;
    program_ = Program(read.expressions);
    if (read.visible) visible_ = Program(*read.visible);
  }

  // Values are good until the next reset(), as long as the page lives.
  void reset() { evaluation_.arena.reset(); }

  SqlStatus add(const StoredRow& stored, Batch& out) {
    Fault fault = table_->codec->decode(stored.key, stored.row, out.arena, values_);
    if (!fault.ok()) return to_error(fault);
    if (is_plain_) {
      std::copy(values_.begin(), values_.end(), out.add_row());
      return {};
    }
    const RowInput input(values_.data());
    if (visible_.result_count() > 0) {
      Value visible;
      fault = visible_.run(evaluation_, input, visible);
      if (!fault.ok()) return evaluation_.take_error(fault);
      if (visible.is_null() || !visible.as_bool()) return {};
    }
    fault = program_.run(evaluation_, input, {out.add_row(), program_.result_count()});
    if (!fault.ok()) return evaluation_.take_error(fault);
    return {};
  }

 private:
  CatalogTablePtr table_;
  bool is_plain_ = false;
  Program program_;
  Program visible_;
  Evaluation evaluation_;
  std::vector<Value> values_;
};

class TableCursor : public RowCursor {
 public:
  TableCursor(ServiceState& service, CatalogTablePtr table, FetchSpec spec, std::string prefix,
              std::function<void()> on_rows)
      : width_(table->schema->columns.size()),
        prefix_(std::move(prefix)),
        decoder_(std::move(table)),
        fetch_(service, std::move(spec), std::move(on_rows)) {}

  PullResult next(Batch& out) override {
    out.reset(width_);
    decoder_.reset();
    if (!reader_) {
      TM_SQL_ASSIGN(const PageFetch::State state, fetch_.state());
      if (state == PageFetch::State::End) return Pull::End;
      if (state == PageFetch::State::Pending) return Pull::Pending;
      page_ = fetch_.take();
      reader_.emplace(page_);
    }
    StoredRow row;
    while (!out.is_full()) {
      if (!reader_->next(row)) {
        if (!reader_->ok()) return error("XX001", "a page of rows is damaged");
        reader_.reset();
        break;
      }
      if (row.key.starts_with(prefix_)) TM_TRY(decoder_.add(row, out));
    }
    return Pull::Rows;
  }

 private:
  size_t width_;
  std::string prefix_;
  RowDecoder decoder_;
  PageFetch fetch_;
  std::string page_;
  std::optional<RowReader> reader_;
};

// Of rows that are here already.
class VirtualCursor : public RowCursor {
 public:
  VirtualCursor(size_t width, std::shared_ptr<const VirtualTables::Rows> rows)
      : width_(width), rows_(std::move(rows)) {}

  PullResult next(Batch& out) override {
    out.reset(width_);
    if (at_ == rows_->size()) return Pull::End;
    for (; at_ < rows_->size() && !out.is_full(); ++at_) {
      TM_ASSERT((*rows_)[at_].size() == width_);
      Value* row = out.add_row();
      for (size_t i = 0; i < width_; ++i) row[i] = (*rows_)[at_][i].get();
    }
    return Pull::Rows;
  }

 private:
  size_t width_;
  std::shared_ptr<const VirtualTables::Rows> rows_;
  size_t at_ = 0;
};

}  // namespace

ClusterSource::ClusterSource(ServiceState& service, const SessionState& session, CatalogSnapshotPtr catalog,
                             std::function<void()> on_rows)
    : service_(service), session_(session), catalog_(std::move(catalog)), on_rows_(std::move(on_rows)) {}

Result<std::unique_ptr<RowCursor>, SqlError> ClusterSource::open(const ScanRequest& request) {
  if (request.table->kind == SchemaKind::Virtual) {
    TM_ASSERT(service_.virtual_tables != nullptr);
    std::shared_ptr<const VirtualTables::Rows>& known = virtual_rows_[request.table->id];
    if (!known) {
      TM_SQL_ASSIGN(VirtualTables::Rows rows, service_.virtual_tables->rows(*request.table, session_));
      known = std::make_shared<const VirtualTables::Rows>(std::move(rows));
    }
    return std::unique_ptr<RowCursor>(std::make_unique<VirtualCursor>(request.table->columns.size(), known));
  }
  CatalogTablePtr table = catalog_->table(request.table->id);
  TM_ASSERT(table != nullptr);
  if (request.key.size() > kKeyBytesMax) {
    return std::unique_ptr<RowCursor>(std::make_unique<VirtualCursor>(
        request.table->columns.size(), std::make_shared<const VirtualTables::Rows>()));
  }
  FetchSpec spec;
  spec.table = request.table->id;
  if (request.has_hash && request.prefix.size() == table->codec->key_columns().size()) {
    spec.key = KeyOfTable{request.hash, request.key};
  } else if (request.has_hash) {
    spec.hash = request.hash;
    spec.key_prefix = request.key;
  }
  return std::unique_ptr<RowCursor>(
      std::make_unique<TableCursor>(service_, std::move(table), std::move(spec), request.key, on_rows_));
}

}  // namespace tidemark::sql
