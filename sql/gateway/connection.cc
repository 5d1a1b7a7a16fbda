#include "sql/gateway/connection.h"

#include "sql/types/binary_format.h"
#include "sql/types/text_format.h"

namespace tidemark::sql {

namespace {

constexpr size_t kStatementsMax = 10'000;  // Prepared ones of a connection, and portals.

SqlError protocol_error(std::string message) {
  return {"08P01", std::move(message), 0, {}, {}};
}

bool is_utf8_name(std::string_view name) {
  std::string plain;
  for (char c : name) {
    if (c != '-' && c != '_' && c != '\'') plain.push_back(static_cast<char>(std::tolower(c)));
  }
  return plain == "utf8" || plain == "unicode" || plain == "sqlascii";
}

// Formats as Bind carries them. False: malformed.
bool read_formats(WireReader& body, size_t columns, std::vector<ValueFormat>& out) {
  int16_t count = body.int16();
  if (count < 0 || (count > 1 && static_cast<size_t>(count) != columns)) return false;
  for (int16_t i = 0; i < count; ++i) {
    int16_t code = body.int16();
    if (code != 0 && code != 1) return false;
    out.push_back(static_cast<ValueFormat>(code));
  }
  return body.ok();
}

// One parameter of a Bind.
Result<OwnedValue, SqlError> read_parameter(TypeKind kind, ValueFormat format, std::string_view bytes) {
  Arena arena;
  Value value;
  SqlType type = SqlType::of(kind);
  Fault fault = format == ValueFormat::Binary ? value_from_binary(kind, bytes, arena, value)
                                              : value_from_text(type, bytes, arena, value);
  if (fault.ok()) return OwnedValue(value);
  if (format == ValueFormat::Binary) {
    return SqlError{
        fault.state(), "incorrect binary data format for a parameter of type " + type_name(type), 0, {}, {}};
  }
  return input_error(fault, type, bytes);
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

bool Connection::wants_input() const {
  if (state_ == State::Closed || output_.size() > options_.result_bytes_max) return false;
  return state_ != State::Busy || input_.size() - consumed_ < kStartupBytesMax;
}

std::string Connection::take_output() {
  return std::exchange(output_, {});
}

void Connection::cancel() {
  if (session_) session_->cancel();
}

// Takes messages until input runs out or a statement runs. Not re-entered: a statement that ends at once
// returns here.
void Connection::process() {
  if (processing_) return;
  processing_ = true;
  bool more = true;
  while (more && (state_ == State::Startup || state_ == State::Ready || state_ == State::CopyIn)) {
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
  SessionRequest request;
  std::vector<std::string> unknown_options;
  for (std::string_view name = body.string(); body.ok() && !name.empty(); name = body.string()) {
    std::string_view value = body.string();
    if (name == "user") request.user = value;
    if (name == "database") request.database = value;
    if (name == "application_name") request.application = value;
    if (name == "client_encoding" && !is_utf8_name(value)) {
      return fatal({"22023", "client_encoding must be UTF8", 0, {}, "Set client_encoding to UTF8."});
    }
    if (name.starts_with("_pq_.")) unknown_options.emplace_back(name);
  }
  if (!body.ok())
    return fatal(protocol_error("invalid startup packet layout: expected terminator as last byte"));
  if (request.user.empty()) return fatal({"28000", "no user name in the startup packet", 0, {}, {}});
  if ((version & 0xffff) > 0 || !unknown_options.empty()) writer_.negotiate_protocol_version(unknown_options);

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
  if (!body.ok()) return fatal(protocol_error("invalid string in message"));
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
  if (query_next_ == query_statements_.size()) {
    in_query_ = false;
    skip_to_sync_ = false;
    writer_.ready_for_query(session_->transaction_status());
    return;
  }
  std::string_view text = query_statements_[query_next_++];
  auto statement = session_->prepare(text, {});
  if (!statement.ok()) {
    fail(statement.error(), text);
    query_next_ = query_statements_.size();
    return run_next_of_query();
  }
  Portal portal;
  portal.statement = std::move(statement).value();
  portal.text = text;
  if (!portal.statement->parameters().empty()) {
    fail({"42P02", "there is no parameter $1", 0, {}, {}}, text);
    query_next_ = query_statements_.size();
    return run_next_of_query();
  }
  if (!portal.statement->columns().empty()) writer_.row_description(portal.statement->columns(), {});
  run(portal, [this, text = portal.text](Result<std::string, SqlError> tag) {
    if (tag.ok()) {
      writer_.command_complete(*tag);
    } else {
      fail(tag.error(), text);
      query_next_ = query_statements_.size();
    }
    run_next_of_query();
  });
}

// ---- extended query

void Connection::on_parse(WireReader body) {
  std::string name(body.string());
  std::string text(body.string());
  int16_t count = body.int16();
  std::vector<TypeKind> parameters;
  std::vector<uint32_t> oids;
  for (int16_t i = 0; i < count && body.ok(); ++i) {
    auto oid = static_cast<uint32_t>(body.int32());
    std::optional<TypeKind> kind = oid == 0 ? TypeKind::Unknown : type_of_oid(oid);
    if (!kind)
      return fail({"42704", "type with OID " + std::to_string(oid) + " is not supported", 0, {}, {}});
    parameters.push_back(*kind);
    oids.push_back(oid);
  }
  if (!body.ok() || count < 0) return fail_protocol("Parse");
  if (!name.empty() && statements_.contains(name)) {
    return fail({"42P05", "prepared statement \"" + name + "\" already exists", 0, {}, {}});
  }
  if (statements_.size() >= kStatementsMax) {
    return fail({"54000", "too many prepared statements", 0, {}, "Close some of them."});
  }
  auto statement = session_->prepare(text, parameters);
  if (!statement.ok()) return fail(statement.error(), text);
  statements_.insert_or_assign(std::move(name),
                               Named{std::move(statement).value(), std::move(text), std::move(oids)});
  writer_.plain('1');
}

void Connection::on_bind(WireReader body) {
  std::string portal_name(body.string());
  std::string_view statement_name = body.string();
  auto it = statements_.find(statement_name);
  if (body.ok() && it == statements_.end()) {
    return fail(
        {"26000", "prepared statement \"" + std::string(statement_name) + "\" does not exist", 0, {}, {}});
  }
  if (!body.ok()) return fail_protocol("Bind");
  const std::vector<TypeKind>& kinds = it->second.statement->parameters();
  std::vector<ValueFormat> parameter_formats;
  if (!read_formats(body, kinds.size(), parameter_formats)) return fail_protocol("Bind");
  int16_t count = body.int16();
  if (body.ok() && (count < 0 || static_cast<size_t>(count) != kinds.size())) {
    return fail({"08P01",
                 "bind message supplies " + std::to_string(count) +
                     " parameters, but the statement requires " + std::to_string(kinds.size()),
                 0,
                 {},
                 {}});
  }
  Portal portal;
  portal.statement = it->second.statement;
  portal.text = it->second.text;
  for (size_t i = 0; i < kinds.size() && body.ok(); ++i) {
    int32_t size = body.int32();
    if (size == -1) {
      portal.parameters.emplace_back();
      continue;
    }
    std::string_view bytes = body.bytes(static_cast<size_t>(static_cast<uint32_t>(size)));
    if (!body.ok()) break;
    auto value = read_parameter(kinds[i], format_of(parameter_formats, i), bytes);
    if (!value.ok()) return fail(value.error());
    portal.parameters.push_back(std::move(value).value());
  }
  if (!read_formats(body, portal.statement->columns().size(), portal.formats)) return fail_protocol("Bind");
  if (!portal_name.empty() && portals_.contains(portal_name)) {
    return fail({"42P03", "cursor \"" + portal_name + "\" already exists", 0, {}, {}});
  }
  if (portals_.size() >= kStatementsMax)
    return fail({"54000", "too many portals", 0, {}, "Close some of them."});
  portals_.insert_or_assign(std::move(portal_name), std::move(portal));
  writer_.plain('2');
}

void Connection::on_describe(WireReader body) {
  char what = static_cast<char>(body.byte());
  std::string_view name = body.string();
  if (!body.ok() || (what != 'S' && what != 'P')) return fail_protocol("Describe");
  const PreparedStatement* statement = nullptr;
  std::span<const ValueFormat> formats;
  if (what == 'S') {
    auto it = statements_.find(name);
    if (it == statements_.end()) {
      return fail({"26000", "prepared statement \"" + std::string(name) + "\" does not exist", 0, {}, {}});
    }
    statement = it->second.statement.get();
    writer_.parameter_description(statement->parameters(), it->second.parameter_oids);
  } else {
    auto it = portals_.find(name);
    if (it == portals_.end())
      return fail({"34000", "portal \"" + std::string(name) + "\" does not exist", 0, {}, {}});
    statement = it->second.statement.get();
    formats = it->second.formats;
  }
  if (statement->columns().empty()) {
    writer_.plain('n');
  } else {
    writer_.row_description(statement->columns(), formats);
  }
}

void Connection::on_execute(WireReader body) {
  std::string name(body.string());
  int32_t rows_max = body.int32();
  if (!body.ok()) return fail_protocol("Execute");
  auto it = portals_.find(name);
  if (it == portals_.end()) return fail({"34000", "portal \"" + name + "\" does not exist", 0, {}, {}});
  Portal& portal = it->second;
  bool in_pieces = rows_max > 0 && !portal.statement->columns().empty();
  if (portal.executed && in_pieces) return send_portal_rows(portal, rows_max);
  if (portal.executed && !portal.rows.empty()) return send_portal_rows(portal, 0);
  if (portal.executed) {
    return fail({"55000", "portal \"" + name + "\" cannot be run again", 0, {}, {}}, portal.text);
  }
  portal.executed = true;
  // The portal lives: nothing is taken from the client while a statement runs.
  piecewise_ = in_pieces ? &portal.rows : nullptr;
  piecewise_bytes_ = 0;
  run(portal, [this, &portal, rows_max, in_pieces](Result<std::string, SqlError> tag) {
    piecewise_ = nullptr;
    if (!tag.ok()) return fail(tag.error(), portal.text);
    portal.tag = std::move(tag).value();
    if (in_pieces) return send_portal_rows(portal, rows_max);
    if (portal.tag.empty()) return writer_.plain('I');
    writer_.command_complete(portal.tag);
  });
}

void Connection::send_portal_rows(Portal& portal, int32_t rows_max) {
  size_t left = portal.rows.size() - portal.rows_sent;
  size_t count = rows_max > 0 ? std::min(left, static_cast<size_t>(rows_max)) : left;
  for (size_t i = 0; i < count; ++i) output_ += std::exchange(portal.rows[portal.rows_sent++], {});
  if (count < left) {
    writer_.plain('s');
  } else {
    writer_.command_complete("SELECT " + std::to_string(count));
  }
}

void Connection::on_close(WireReader body) {
  char what = static_cast<char>(body.byte());
  std::string_view name = body.string();
  if (!body.ok() || (what != 'S' && what != 'P')) return fail_protocol("Close");
  if (what == 'S') {
    if (auto it = statements_.find(name); it != statements_.end()) statements_.erase(it);
  } else if (auto it = portals_.find(name); it != portals_.end()) {
    portals_.erase(it);
  }
  writer_.plain('3');
}

void Connection::on_sync() {
  skip_to_sync_ = false;
  if (session_->transaction_status() == TransactionStatus::Idle) portals_.clear();
  writer_.ready_for_query(session_->transaction_status());
}

// ---- running a statement

void Connection::run(const Portal& portal, std::function<void(Result<std::string, SqlError>)> then) {
  state_ = State::Busy;
  formats_ = portal.formats;
  session_->execute(
      portal.statement, portal.parameters, *this,
      [this, then = std::move(then)](Result<std::string, SqlError> tag) {
        if (state_ == State::Closed) return;
        state_ = State::Ready;
        if (std::exchange(overflowed_, false)) {
          tag = SqlError{"54000", "the result is too large", 0, {}, "Use LIMIT, or read in pieces by key."};
        }
        then(std::move(tag));
        process();
      });
}

bool Connection::row(std::span<const Value> values) {
  if (state_ == State::Closed) return false;
  if (!piecewise_) {
    writer_.data_row(values, formats_);
    overflowed_ = output_.size() > options_.result_bytes_max;
  } else {
    std::string& message = piecewise_->emplace_back();
    WireWriter(message).data_row(values, formats_);
    piecewise_bytes_ += message.size();
    overflowed_ = piecewise_bytes_ > options_.result_bytes_max;
  }
  return !overflowed_;
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
      session_->copy_data(body, [this] {
        if (state_ != State::Busy) return;  // The COPY has failed meanwhile.
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
