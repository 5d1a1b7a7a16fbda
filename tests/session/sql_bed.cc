#include "tests/session/sql_bed.h"

#include <algorithm>

#include "sql/types/text_format.h"

namespace tidemark {

std::vector<std::string> SqlOutcome::sorted() const {
  std::vector<std::string> out = rows;
  std::sort(out.begin(), out.end());
  return out;
}

std::string SqlOutcome::text() const {
  if (error)
    return error->state + " " + error->message + (error->hint.empty() ? "" : " (" + error->hint + ")");
  std::string out = tag;
  for (const std::string& line : rows) out += "\n" + line;
  return out;
}

SqlProcess::SqlProcess(SimCluster& cluster, const std::string& name)
    : cluster_(cluster),
      loop_(cluster.world().scheduler),
      coordination_(cluster.world().coordination, loop_, cluster.world().random.fork()),
      random_(cluster.world().random.fork()),
      transport_(cluster.world().network.connect(Address{name}, loop_)) {
  sql::SqlServiceOptions options;
  options.shards = ShardCount{16};
  options.name = name;
  service_ =
      std::make_unique<sql::SqlService>(ProcessContext{loop_, *transport_, coordination_, random_}, options);
}

std::unique_ptr<SqlClient> SqlProcess::connect() {
  Result<std::unique_ptr<sql::Session>, sql::SqlError> session =
      service_->make_session({"tester", "tidemark", "tests"});
  TM_ASSERT(session.ok(), session.error().message);
  return std::make_unique<SqlClient>(cluster_, std::move(*session));
}

SqlClient::SqlClient(SimCluster& cluster, std::unique_ptr<sql::Session> session)
    : cluster_(cluster), session_(std::move(session)) {}

SqlOutcome SqlClient::run(const std::string& text) {
  begin(text);
  return finish();
}

void SqlClient::begin(const std::string& text) {
  TM_ASSERT(!running_);
  outcome_ = {};
  text_ = text;
  running_ = true;
  auto statements = session_->split(text_);
  if (!statements.ok()) {
    outcome_.error = statements.error();
    session_->fail_transaction();
    running_ = false;
    return;
  }
  left_ = *statements;
  std::reverse(left_.begin(), left_.end());
  next();
}

void SqlClient::next() {
  if (left_.empty() || outcome_.error) {
    running_ = false;
    return;
  }
  std::string_view text = left_.back();
  left_.pop_back();
  outcome_.rows.clear();
  auto statement = session_->prepare(text, {});
  if (!statement.ok()) {
    outcome_.error = statement.error();
    session_->fail_transaction();
    return next();
  }
  session_->execute(*statement, {}, *this, [this](Result<std::string, sql::SqlError> tag) {
    if (tag.ok()) {
      outcome_.tag = *tag;
    } else {
      outcome_.tag.clear();
      outcome_.error = tag.error();
    }
    next();
  });
}

SqlOutcome SqlClient::finish() {
  const bool over = cluster_.run_until([this] { return !running_; });
  TM_ASSERT(over, text_);
  return outcome_;
}

SqlOutcome SqlClient::run_prepared(const std::shared_ptr<const sql::PreparedStatement>& statement,
                                   const std::vector<std::optional<std::string>>& parameters) {
  TM_ASSERT(!running_);
  TM_ASSERT(statement->parameters().size() == parameters.size());
  std::vector<sql::OwnedValue> values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    sql::Arena arena;
    sql::Value value;
    if (parameters[i]) {
      const sql::SqlType type = sql::SqlType::of(statement->parameters()[i]);
      TM_ASSERT(sql::value_from_text(type, *parameters[i], arena, value).ok());
    }
    values.emplace_back(value);
  }
  outcome_ = {};
  left_.clear();
  running_ = true;
  session_->execute(statement, std::move(values), *this, [this](Result<std::string, sql::SqlError> tag) {
    if (tag.ok()) {
      outcome_.tag = *tag;
    } else {
      outcome_.error = tag.error();
    }
    running_ = false;
  });
  return finish();
}

sql::Wanted SqlClient::row(std::span<const sql::Value> values) {
  std::string line;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) line += "|";
    if (!values[i].is_null()) line += sql::to_text(values[i]);
  }
  TM_ASSERT(!paused_);
  outcome_.rows.push_back(std::move(line));
  if (rows_wanted_ == 0 || outcome_.rows.size() < rows_wanted_) return sql::Wanted::More;
  return sql::Wanted::Later;
}

void SqlClient::paused() {
  TM_ASSERT(!paused_);
  paused_ = true;
}

void SqlClient::take_more(size_t rows) {
  TM_ASSERT(paused_);
  paused_ = false;
  rows_wanted_ = outcome_.rows.size() + rows;
  session_->resume();
}

void SqlClient::give_copy_data(std::string data, size_t piece_bytes) {
  copy_data_ = std::move(data);
  copy_piece_bytes_ = piece_bytes;
}

void SqlClient::copy_in(size_t) {
  send_copy_data();
}

void SqlClient::send_copy_data() {
  if (!running_) return;
  if (copy_data_.empty()) return session_->copy_end(nullptr);
  const std::string piece = copy_data_.substr(0, copy_piece_bytes_);
  copy_data_.erase(0, copy_piece_bytes_);
  session_->copy_data(piece, [this] { send_copy_data(); });
}

}  // namespace tidemark
