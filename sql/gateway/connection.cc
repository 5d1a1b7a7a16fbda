#include "sql/gateway/connection.h"

#include <algorithm>

#include "base/assert.h"
#include "sql/gateway/startup.h"

namespace tidemark::sql {

namespace {

constexpr size_t kSendBytes = 16 << 10;  // Rows go out in pieces of about this.

SqlError protocol_error(std::string message) {
  return {"08P01", std::move(message), 0, {}, {}};
}

}  // namespace

Connection::Connection(CancelKey key, SessionFactory make_session, Outside outside, ConnectionOptions options)
    : key_(key),
      make_session_(std::move(make_session)),
      outside_(std::move(outside)),
      options_(std::move(options)) {}
Connection::~Connection() = default;

void Connection::feed(std::string_view bytes) {
  if (state_ == State::Closed) return;
  input_.append(bytes);
  process();
}

// While nothing is taken from it, some input is still wanted: to notice that the client left.
bool Connection::wants_input() const {
  if (state_ == State::Closed) return false;
  return (state_ != State::Busy && has_room()) || input_.size() - consumed_ < kStartupBytesMax;
}

std::string Connection::take_output() {
  return std::exchange(output_, {});
}

void Connection::go_on() {
  if (state_ == State::Closed || !has_room()) return;
  if (state_ != State::Busy) return process();
  if (std::exchange(paused_, false)) session_->resume();
}

// Between statements there is nothing to cancel, even if one is suspended.
void Connection::cancel() {
  if (state_ == State::Busy || state_ == State::CopyIn) session_->cancel();
}

// Takes messages until input runs out, a statement runs or output is to be taken. Not re-entered: a statement
// that ends at once returns here.
void Connection::process() {
  if (processing_) return;
  processing_ = true;
  bool more = true;
  while (more && has_room() && state_ != State::Busy && state_ != State::Closed) {
    more = state_ == State::Startup ? take_startup() : take_message();
  }
  input_.erase(0, consumed_);
  consumed_ = 0;
  processing_ = false;
  if (outside_.on_progress) outside_.on_progress();
}

bool Connection::take_startup() {
  std::string_view left = std::string_view(input_).substr(consumed_);
  if (left.size() < 8) return false;
  WireReader head(left);
  int32_t size = head.int32();
  if (size < 8 || static_cast<size_t>(size) > kStartupBytesMax) {
    fatal(protocol_error("invalid length of startup packet"));
    return false;
  }
  if (left.size() < static_cast<size_t>(size)) return false;
  consumed_ += static_cast<size_t>(size);
  WireReader body(left.substr(4, static_cast<size_t>(size) - 4));
  int32_t code = body.int32();
  if (code == kSslRequest || code == kGssEncRequest) {
    output_.push_back('N');
    return true;
  }
  if (code == kCancelRequest) {
    CancelKey key{body.int32(), body.int32()};
    if (body.ok() && outside_.cancel) outside_.cancel(key);
    close();
    return false;
  }
  start(body, code);
  return true;
}

void Connection::start(WireReader& body, int32_t version) {
  if (version >> 16 != 3) {
    return fatal(protocol_error("unsupported frontend protocol " + std::to_string(version >> 16) + "." +
                                std::to_string(version & 0xffff) + ": server supports 3.0"));
  }
  auto startup = read_startup(body);
  if (!startup.ok()) return fatal(startup.error());
  const SessionRequest& request = startup->request;
  if ((version & 0xffff) > 0 || !startup->unknown_options.empty())
    writer_.negotiate_protocol_version(startup->unknown_options);

  auto session = make_session_(request);
  if (!session.ok()) return fatal(session.error());
  session_ = std::move(session).value();
  state_ = State::Ready;
  writer_.authentication_ok();
  const std::pair<const char*, std::string_view> settings[] = {
      {"server_version", options_.server_version},
      {"server_encoding", "UTF8"},
      {"client_encoding", "UTF8"},
      {"application_name", request.application},
      {"is_superuser", "off"},
      {"session_authorization", request.user},
      {"DateStyle", "ISO, MDY"},
      {"IntervalStyle", "postgres"},
      {"TimeZone", "UTC"},
      {"integer_datetimes", "on"},
      {"standard_conforming_strings", "on"},
  };
  for (const auto& [name, value] : settings) writer_.parameter_status(name, value);
  writer_.backend_key_data(key_.pid, key_.secret);
  writer_.ready_for_query(session_->transaction_status());
}

bool Connection::take_message() {
  std::string_view left = std::string_view(input_).substr(consumed_);
  if (left.size() < 5) return false;
  WireReader head(left);
  char type = static_cast<char>(head.byte());
  int32_t size = head.int32();
  if (size < 4 || static_cast<size_t>(size) > kMessageBytesMax) {
    fatal(protocol_error("invalid message length"));
    return false;
  }
  if (left.size() < static_cast<size_t>(size) + 1) return false;
  consumed_ += static_cast<size_t>(size) + 1;
  handle(type, left.substr(5, static_cast<size_t>(size) - 4));
  return true;
}

void Connection::handle(char type, std::string_view body) {
  if (state_ == State::CopyIn) return on_copy_message(type, body);
  if (type == 'X') return close();
  if (skip_to_sync_ && type != 'S') return;
  WireReader reader(body);
  switch (type) {
    case 'Q': return on_query(reader);
    case 'P': return on_parse(reader);
    case 'B': return on_bind(reader);
    case 'D': return on_describe(reader);
    case 'E': return on_execute(reader);
    case 'C': return on_close(reader);
    case 'S': return on_sync();
    case 'H': return;  // Flush: all output goes out at the end of each turn.
    case 'd':
    case 'c':
    case 'f': return;  // Left over from a COPY that failed.
    case 'F':
      fail({"0A000", "function calls by message are not supported", 0, {}, "Use SELECT."});
      skip_to_sync_ = false;
      return writer_.ready_for_query(session_->transaction_status());
    default:
      return fatal(protocol_error(std::string("invalid frontend message type ") + std::to_string(type)));
  }
}

// ---- simple query

void Connection::on_query(WireReader body) {
  query_ = body.string();
  if (!body.ok() || !body.done()) return fatal(protocol_error("invalid Query message"));
  const auto unnamed = portals_.find("");
  const bool is_dropped = unnamed != portals_.end() && unnamed->second == running_;
  settle(is_dropped ? Rest::Dropped : Rest::Kept, [this] { begin_query(); });
}

void Connection::begin_query() {
  portals_.erase("");
  statements_.erase("");
  in_query_ = true;
  query_next_ = 0;
  query_statements_.clear();
  auto statements = session_->split(query_);
  if (!statements.ok()) {
    fail(statements.error(), query_);
  } else {
    query_statements_ = std::move(statements).value();
    if (query_statements_.empty()) writer_.plain('I');
  }
  run_next_of_query();
}

void Connection::run_next_of_query() {
  if (query_next_ == query_statements_.size()) return end_query();
  std::string_view text = query_statements_[query_next_++];
  auto statement = session_->prepare(text, {});
  if (!statement.ok()) {
    fail(statement.error(), text);
    return end_query();
  }
  auto portal = std::make_shared<Portal>(held_bytes_);
  portal->statement = std::move(statement).value();
  portal->text = text;
  if (!portal->statement->parameters().empty()) {
    fail({"42P02", "there is no parameter $1", 0, {}, {}}, text);
    return end_query();
  }
  if (portal->has_columns()) writer_.row_description(portal->statement->columns(), {});
  run(portal, {}, [this, portal] {
    if (portal->outcome->ok()) {
      writer_.command_complete(**portal->outcome);
      return run_next_of_query();
    }
    fail(portal->outcome->error(), portal->text);
    end_query();
  });
}

void Connection::end_query() {
  in_query_ = false;
  query_statements_.clear();
  if (session_->transaction_status() == TransactionStatus::Idle) portals_.clear();
  writer_.ready_for_query(session_->transaction_status());
}

// ---- running a statement

void Connection::run(PortalPtr portal, Piece piece, std::function<void()> then) {
  TM_ASSERT(running_ == nullptr);
  portal->executed = true;
  running_ = std::move(portal);
  rows_to_ = RowsTo::Client;
  piece_ = piece;
  then_ = std::move(then);
  paused_ = false;
  state_ = State::Busy;
  ++runs_;
  session_->execute(running_->statement, running_->parameters, *this,
                    [this](Result<std::string, SqlError> tag) { on_done(std::move(tag)); });
}

void Connection::go_on_with(const PortalPtr& portal, Piece piece, std::function<void()> then) {
  TM_ASSERT(is_suspended());
  TM_ASSERT(running_ == portal);
  piece_ = piece;
  then_ = std::move(then);
  paused_ = false;
  state_ = State::Busy;
  session_->resume();
}

void Connection::on_done(Result<std::string, SqlError> tag) {
  if (state_ == State::Closed) return;
  if (std::exchange(overflowed_, false)) {
    tag = SqlError{"54000", "the result is too large", 0, {}, "Use LIMIT, or read in pieces by key."};
  }
  const bool was_suspended = is_suspended();
  paused_ = false;
  std::exchange(running_, nullptr)->outcome = std::move(tag);
  if (was_suspended) return;  // It was interrupted: the client hears of it when it asks for more.
  state_ = State::Ready;
  std::exchange(then_, {})();
  process();
}

void Connection::settle(Rest rest, std::function<void()> next) {
  if (!is_suspended()) return next();
  rows_to_ = rest == Rest::Kept ? RowsTo::Portal : RowsTo::Nowhere;
  go_on_with(running_, {}, std::move(next));
}

Wanted Connection::row(std::span<const Value> values) {
  // A statement that writes rows and returns them goes on, and gives more.
  if (state_ == State::Closed || rows_to_ == RowsTo::Nowhere || overflowed_) return Wanted::NoMore;
  if (rows_to_ == RowsTo::Portal || piece_.is_full()) return keep_row(values);
  writer_.data_row(values, running_->formats);
  ++piece_.rows;
  if (output_.size() >= kSendBytes && outside_.on_progress) outside_.on_progress();
  overflowed_ = output_.size() > options_.result_bytes_max;
  if (overflowed_) return Wanted::NoMore;
  return piece_.is_full() || !has_room() ? Wanted::Later : Wanted::More;
}

Wanted Connection::keep_row(std::span<const Value> values) {
  std::string& message = running_->rows.emplace_back();
  WireWriter(message).data_row(values, running_->formats);
  running_->held.add(message.size());
  overflowed_ = held_bytes_ > options_.result_bytes_max;
  return overflowed_ ? Wanted::NoMore : Wanted::More;
}

void Connection::paused() {
  if (state_ != State::Busy) return;
  paused_ = true;
  if (piece_.is_full()) {
    state_ = State::Ready;
    std::exchange(then_, {})();
    return process();
  }
  go_on();
  if (outside_.on_progress) outside_.on_progress();
}

bool Connection::forget(std::string_view name) {
  if (name.empty()) {
    statements_.clear();
    return true;
  }
  const auto found = statements_.find(name);
  if (found == statements_.end()) return false;
  statements_.erase(found);
  return true;
}

// Those that PostgreSQL tells its clients of whenever they change.
void Connection::setting(std::string_view name, std::string_view value) {
  constexpr std::string_view kReported[] = {"application_name",
                                            "client_encoding",
                                            "DateStyle",
                                            "IntervalStyle",
                                            "session_authorization",
                                            "TimeZone",
                                            "standard_conforming_strings"};
  if (state_ != State::Closed &&
      std::find(std::begin(kReported), std::end(kReported), name) != std::end(kReported))
    writer_.parameter_status(name, value);
}

void Connection::copy_in(size_t columns) {
  if (state_ == State::Closed) return;
  writer_.copy_in_response(columns);
  state_ = State::CopyIn;
  process();
}

void Connection::notice(const SqlError& notice) {
  if (state_ != State::Closed) writer_.notice(notice);
}

void Connection::on_copy_message(char type, std::string_view body) {
  std::string failure;
  switch (type) {
    case 'd':
      state_ = State::Busy;
      session_->copy_data(body, [this, run = runs_] {
        if (state_ != State::Busy || run != runs_) return;  // The COPY has failed meanwhile.
        state_ = State::CopyIn;
        process();
      });
      return;
    case 'c': state_ = State::Busy; return session_->copy_end(nullptr);
    case 'f':
      failure = WireReader(body).string();
      state_ = State::Busy;
      return session_->copy_end(&failure);
    case 'H':
    case 'S': return;  // Harmless here.
    case 'X': return close();
    default:
      failure = "unexpected message type during COPY from stdin";
      state_ = State::Busy;
      return session_->copy_end(&failure);
  }
}

// ---- failures

void Connection::fail(const SqlError& error, std::string_view statement) {
  writer_.error(error, statement);
  session_->fail_transaction();
  if (!in_query_) skip_to_sync_ = true;
}

void Connection::fail_protocol(std::string_view what) {
  fail(protocol_error("invalid " + std::string(what) + " message"));
}

void Connection::fatal(const SqlError& error) {
  writer_.error(error, {}, true);
  close();
}

void Connection::close() {
  state_ = State::Closed;
  if (outside_.on_close) outside_.on_close();
}

}  // namespace tidemark::sql
