// Parse, Bind, Describe, Execute, Close and Sync.
#include "sql/gateway/connection.h"
#include "sql/types/binary_format.h"
#include "sql/types/text_format.h"

namespace tidemark::sql {

namespace {

constexpr size_t kStatementsMax = 10'000;  // Prepared ones of a connection, and portals.

// Formats as Bind carries them. False: malformed.
bool read_formats(WireReader& body, size_t columns, std::vector<ValueFormat>& out) {
  const size_t count = body.count();
  if (count > 1 && count != columns) return false;
  for (size_t i = 0; i < count; ++i) {
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

void Connection::on_parse(WireReader body) {
  std::string name(body.string());
  std::string text(body.string());
  const size_t count = body.count();
  std::vector<TypeKind> parameters;
  std::vector<uint32_t> oids;
  for (size_t i = 0; i < count && body.ok(); ++i) {
    auto oid = static_cast<uint32_t>(body.int32());
    std::optional<TypeKind> kind = oid == 0 ? TypeKind::Unknown : type_of_oid(oid);
    if (!kind)
      return fail({"42704", "type with OID " + std::to_string(oid) + " is not supported", 0, {}, {}});
    parameters.push_back(*kind);
    oids.push_back(oid);
  }
  if (!body.ok() || !body.done()) return fail_protocol("Parse");
  if (name.empty()) statements_.erase("");  // Also if the new one is refused.
  if (statements_.contains(name)) {
    return fail({"42P05", "prepared statement \"" + name + "\" already exists", 0, {}, {}});
  }
  if (statements_.size() >= kStatementsMax) {
    return fail({"54000", "too many prepared statements", 0, {}, "Close some of them."});
  }
  auto statement = session_->prepare(text, parameters);
  if (!statement.ok()) return fail(statement.error(), text);
  statements_.emplace(std::move(name), Named{std::move(statement).value(), std::move(text), std::move(oids)});
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
  const size_t count = body.count();
  if (body.ok() && count != kinds.size()) {
    return fail({"08P01",
                 "bind message supplies " + std::to_string(count) +
                     " parameters, but the statement requires " + std::to_string(kinds.size()),
                 0,
                 {},
                 {}});
  }
  auto portal = std::make_shared<Portal>(held_bytes_);
  portal->statement = it->second.statement;
  portal->text = it->second.text;
  for (size_t i = 0; i < kinds.size() && body.ok(); ++i) {
    int32_t size = body.int32();
    if (size == -1) {
      portal->parameters.emplace_back();
      continue;
    }
    std::string_view bytes = body.bytes(static_cast<size_t>(static_cast<uint32_t>(size)));
    if (!body.ok()) break;
    auto value = read_parameter(kinds[i], format_of(parameter_formats, i), bytes);
    if (!value.ok()) return fail(value.error());
    portal->held.add(sizeof(OwnedValue) + value->memory_bytes());
    portal->parameters.push_back(std::move(value).value());
  }
  if (!read_formats(body, portal->statement->columns().size(), portal->formats) || !body.done())
    return fail_protocol("Bind");
  const auto replaced = portals_.find(portal_name);
  if (replaced != portals_.end() && !portal_name.empty()) {
    return fail({"42P03", "cursor \"" + portal_name + "\" already exists", 0, {}, {}});
  }
  if (portals_.size() >= kStatementsMax)
    return fail({"54000", "too many portals", 0, {}, "Close some of them."});
  if (held_bytes_ > options_.result_bytes_max)
    return fail({"53200", "the portals of this connection hold too much", 0, {}, "Close some of them."});
  const bool is_suspended_one = replaced != portals_.end() && replaced->second == running_;
  auto add = [this, name = std::move(portal_name), portal = std::move(portal)] {
    portals_.insert_or_assign(name, portal);
    writer_.plain('2');
  };
  if (is_suspended_one) return settle(Rest::Dropped, std::move(add));
  add();
}

void Connection::on_describe(WireReader body) {
  char what = static_cast<char>(body.byte());
  std::string_view name = body.string();
  if (!body.ok() || !body.done() || (what != 'S' && what != 'P')) return fail_protocol("Describe");
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
    statement = it->second->statement.get();
    formats = it->second->formats;
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
  if (!body.ok() || !body.done()) return fail_protocol("Execute");
  auto it = portals_.find(name);
  if (it == portals_.end()) return fail({"34000", "portal \"" + name + "\" does not exist", 0, {}, {}});
  const PortalPtr portal = it->second;
  const Piece piece{rows_max > 0 && portal->has_columns() ? static_cast<size_t>(rows_max) : 0};
  portal->in_pieces |= piece.rows_max > 0;
  auto then = [this, portal] { end_piece(*portal); };
  if (portal->executed && session_->transaction_status() == TransactionStatus::Failed) {
    return fail({"25P02",
                 "current transaction is aborted, commands ignored until end of transaction block",
                 0,
                 {},
                 {}});
  }
  if (portal == running_) return go_on_with(portal, piece, std::move(then));
  if (portal->executed && portal->has_columns()) return execute_again(*portal, piece);
  if (portal->executed) {
    return fail({"55000", "portal \"" + name + "\" cannot be run again", 0, {}, {}}, portal->text);
  }
  settle(Rest::Kept, [this, portal, piece, then = std::move(then)] { run(portal, piece, then); });
}

void Connection::execute_again(Portal& portal, Piece piece) {
  portal.in_pieces = true;
  for (; !portal.rows.empty() && !piece.is_full(); ++piece.rows) {
    output_ += portal.rows.front();
    portal.held.remove(portal.rows.front().size());
    portal.rows.pop_front();
  }
  piece_ = piece;
  end_piece(portal);
}

void Connection::end_piece(const Portal& portal) {
  if (piece_.is_full()) return writer_.plain('s');
  if (!portal.outcome->ok()) return fail(portal.outcome->error(), portal.text);
  const std::string& tag = **portal.outcome;
  if (tag.empty()) return writer_.plain('I');
  const bool counts = portal.in_pieces && tag.starts_with("SELECT ");
  writer_.command_complete(counts ? "SELECT " + std::to_string(piece_.rows) : tag);
}

void Connection::on_close(WireReader body) {
  char what = static_cast<char>(body.byte());
  std::string_view name = body.string();
  if (!body.ok() || !body.done() || (what != 'S' && what != 'P')) return fail_protocol("Close");
  bool is_suspended_one = false;
  if (what == 'S') {
    if (auto it = statements_.find(name); it != statements_.end()) statements_.erase(it);
  } else if (auto it = portals_.find(name); it != portals_.end()) {
    is_suspended_one = it->second == running_;
    portals_.erase(it);
  }
  auto answer = [this] { writer_.plain('3'); };
  if (is_suspended_one) return settle(Rest::Dropped, answer);
  answer();
}

void Connection::on_sync() {
  skip_to_sync_ = false;
  auto answer = [this] { writer_.ready_for_query(session_->transaction_status()); };
  if (session_->transaction_status() != TransactionStatus::Idle) return answer();
  portals_.clear();
  settle(Rest::Dropped, answer);
}

}  // namespace tidemark::sql
