// A Session whose statements are: "rows N", "fail", "wait" (until cancelled), "copy", "echo" (one parameter).
#pragma once

#include <charconv>

#include "base/scheduler.h"
#include "sql/gateway/session.h"

namespace tidemark::sql {

class FakeStatement : public PreparedStatement {
 public:
  explicit FakeStatement(std::string_view statement) : text(statement) {
    if (text.starts_with("rows"))
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
    if (statement.starts_with("rows") || statement == "fail" || statement == "wait" || statement == "copy" ||
        statement == "echo") {
      return std::shared_ptr<const PreparedStatement>(std::make_shared<FakeStatement>(statement));
    }
    return SqlError{"42601", "syntax error", 1, {}, "Write rows N."};
  }

  void execute(std::shared_ptr<const PreparedStatement> statement, std::vector<OwnedValue> parameters,
               ResultSink& sink, Done done) override {
    auto fake = std::dynamic_pointer_cast<const FakeStatement>(statement);
    later([this, fake, parameters = std::move(parameters), &sink, done = std::move(done)] {
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
      int count = std::atoi(fake->text.c_str() + 4);
      for (int i = 0; i < count; ++i) {
        Value values[2] = {Value::integer(i), Value::text("row")};
        if (!sink.row(values)) break;
      }
      done("SELECT " + std::to_string(count));
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
    if (!waiting_) return;
    later([done = std::exchange(waiting_, {})] {
      done(SqlError{"57014", "canceling statement due to user request", 0, {}, {}});
    });
  }
  TransactionStatus transaction_status() const override { return TransactionStatus::Idle; }

 private:
  void later(std::function<void()> task) {
    scheduler_.post([alive = alive_, task = std::move(task)] {
      if (*alive) task();
    });
  }

  Scheduler& scheduler_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Done waiting_;
  Done copied_;
  size_t copied_bytes_ = 0;
};

}  // namespace tidemark::sql
