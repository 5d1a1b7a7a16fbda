// A Session whose statements are: "rows N", "burst N" (rows that neither wait nor end), "fail", "wait" (until
// cancelled), "copy", "echo" (one parameter), "begin", "end", "forget NAME", "set" (of two settings), ""
// (nothing).
#pragma once

#include <optional>

#include "base/scheduler.h"
#include "sql/gateway/session.h"

namespace tidemark::sql {

class FakeStatement : public PreparedStatement {
 public:
  explicit FakeStatement(std::string_view statement) : text(statement) {
    if (text.starts_with("rows") || text.starts_with("burst"))
      columns_ = {{"n", SqlType::of(TypeKind::Integer)}, {"t", SqlType::of(TypeKind::Text)}};
    if (text == "echo") {
      columns_ = {{"v", SqlType::of(TypeKind::BigInt)}};
      parameters_ = {TypeKind::BigInt};
    }
  }
  const std::vector<TypeKind>& parameters() const override { return parameters_; }
  const std::vector<ResultColumn>& columns() const override { return columns_; }

  std::string text;

 private:
  std::vector<TypeKind> parameters_;
  std::vector<ResultColumn> columns_;
};

class FakeSession : public Session {
 public:
  explicit FakeSession(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~FakeSession() override { *alive_ = false; }

  Result<std::vector<std::string_view>, SqlError> split(std::string_view text) override {
    std::vector<std::string_view> out;
    while (!text.empty()) {
      size_t end = std::min(text.find(';'), text.size());
      std::string_view one = text.substr(0, end);
      while (one.starts_with(' ')) one.remove_prefix(1);
      if (!one.empty()) out.push_back(one);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
  }

  Result<std::shared_ptr<const PreparedStatement>, SqlError> prepare(std::string_view statement,
                                                                     std::span<const TypeKind>) override {
    const std::string_view word = statement.substr(0, statement.find(' '));
    if (word == "rows" || word == "burst" || word == "fail" || word == "wait" || word == "copy" ||
        word == "echo" || word == "begin" || word == "end" || word == "forget" || word == "set" ||
        word.empty()) {
      return std::shared_ptr<const PreparedStatement>(std::make_shared<FakeStatement>(statement));
    }
    return SqlError{"42601", "syntax error", 1, {}, "Write rows N."};
  }

  void execute(std::shared_ptr<const PreparedStatement> statement, std::vector<OwnedValue> parameters,
               ResultSink& sink, Done done) override {
    auto fake = std::dynamic_pointer_cast<const FakeStatement>(statement);
    later([this, fake, parameters = std::move(parameters), &sink, done = std::move(done)] {
      if (fake->text.empty()) return done(std::string());
      if (fake->text == "begin" || fake->text == "end") {
        status_ = fake->text == "begin" ? TransactionStatus::InTransaction : TransactionStatus::Idle;
        return done(fake->text);
      }
      if (fake->text.starts_with("forget")) {
        if (sink.forget(fake->text.substr(6 + (fake->text.size() > 6 ? 1 : 0))))
          return done(std::string("FORGET"));
        return done(SqlError{"26000", "no such statement", 0, {}, {}});
      }
      if (fake->text == "set") {
        sink.setting("application_name", "renamed");
        sink.setting("work_mem", "1MB");
        return done(std::string("SET"));
      }
      if (fake->text == "fail") return done(SqlError{"22012", "division by zero", 0, {}, {}});
      if (fake->text == "wait") {
        waiting_ = done;
        return;
      }
      if (fake->text == "copy") {
        copied_ = done;
        return sink.copy_in(2);
      }
      if (fake->text == "echo") {
        Value value = parameters[0].get();
        sink.row({&value, 1});
        return done(std::string("SELECT 1"));
      }
      const bool waits = fake->text.starts_with("rows");
      rows_.emplace(Rows{sink, done, std::atoi(fake->text.c_str() + (waits ? 4 : 5)), waits});
      give_rows();
    });
  }

  void resume() override {
    TM_ASSERT(!rows_ || rows_->is_paused);
    later([this] {
      if (rows_) give_rows();
    });
  }

  void copy_data(std::string_view bytes, std::function<void()> taken) override {
    copied_bytes_ += bytes.size();
    later(std::move(taken));
  }
  void copy_end(const std::string* failure) override {
    later([this, failed = failure != nullptr] {
      if (failed) return copied_(SqlError{"57014", "COPY from stdin failed", 0, {}, {}});
      copied_("COPY " + std::to_string(copied_bytes_));
    });
  }
  void cancel() override {
    if (rows_) {
      waiting_ = rows_->done;
      rows_.reset();
    }
    if (!waiting_) return;
    later([done = std::exchange(waiting_, {})] {
      done(SqlError{"57014", "canceling statement due to user request", 0, {}, {}});
    });
  }
  TransactionStatus transaction_status() const override { return status_; }
  void fail_transaction() override {
    if (status_ != TransactionStatus::Idle) status_ = TransactionStatus::Failed;
  }

  bool is_waiting() const { return rows_ && rows_->is_paused; }
  int rows_given() const { return rows_given_; }  // By all its statements.

 private:
  struct Rows {
    ResultSink& sink;
    Done done;
    int count;
    bool waits;
    int at = 0;
    bool is_paused = false;
  };

  void give_rows() {
    rows_->is_paused = false;
    while (rows_->at < rows_->count) {
      Value values[2] = {Value::integer(rows_->at++), Value::text("row")};
      ++rows_given_;
      const Wanted wanted = rows_->sink.row(values);
      if (wanted == Wanted::More || !rows_->waits) continue;
      if (wanted == Wanted::NoMore) break;
      return later([this] {
        if (!rows_) return;
        rows_->is_paused = true;
        rows_->sink.paused();
      });
    }
    const Done done = std::move(rows_->done);
    const std::string tag = "SELECT " + std::to_string(rows_->at);
    rows_.reset();
    done(tag);
  }

  void later(std::function<void()> task) {
    scheduler_.post([alive = alive_, task = std::move(task)] {
      if (*alive) task();
    });
  }

  Scheduler& scheduler_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  TransactionStatus status_ = TransactionStatus::Idle;
  std::optional<Rows> rows_;
  int rows_given_ = 0;
  Done waiting_;
  Done copied_;
  size_t copied_bytes_ = 0;
};

}  // namespace tidemark::sql
