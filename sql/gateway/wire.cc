#include "sql/gateway/wire.h"

#include "sql/types/binary_format.h"
#include "sql/types/text_format.h"

namespace tidemark::sql {

uint32_t WireReader::integer(size_t size) {
  uint32_t value = 0;
  for (char byte : bytes(size)) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

std::string_view WireReader::bytes(size_t size) {
  if (!ok_ || size > left_.size()) {
    ok_ = false;
    left_ = {};
    return {};
  }
  std::string_view out = left_.substr(0, size);
  left_.remove_prefix(size);
  return out;
}

std::string_view WireReader::string() {
  size_t end = left_.find('\0');
  if (end == std::string_view::npos) return bytes(left_.size() + 1);  // Fails.
  std::string_view out = bytes(end);
  bytes(1);
  return out;
}

ValueFormat format_of(std::span<const ValueFormat> formats, size_t column) {
  if (formats.empty()) return ValueFormat::Text;
  return formats.size() == 1 ? formats[0] : formats[column];
}

size_t WireWriter::begin(char type) {
  out_.push_back(type);
  out_.append(4, '\0');
  return out_.size() - 4;
}

void WireWriter::end(size_t at) {
  size_t size = out_.size() - at;
  for (int i = 0; i < 4; ++i) out_[at + static_cast<size_t>(i)] = static_cast<char>(size >> (24 - 8 * i));
}

void WireWriter::int16(int value) {
  out_.push_back(static_cast<char>(value >> 8));
  out_.push_back(static_cast<char>(value));
}

void WireWriter::int32(int64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out_.push_back(static_cast<char>(value >> shift));
}

void WireWriter::string(std::string_view text) {
  out_.append(text.substr(0, text.find('\0')));
  out_.push_back('\0');
}

void WireWriter::plain(char type) {
  end(begin(type));
}

void WireWriter::authentication_ok() {
  size_t at = begin('R');
  int32(0);
  end(at);
}

void WireWriter::negotiate_protocol_version(std::span<const std::string> unknown_options) {
  size_t at = begin('v');
  int32(kProtocolVersion3);  // The newest version that is spoken here, the major part included.
  int32(static_cast<int64_t>(unknown_options.size()));
  for (const std::string& option : unknown_options) string(option);
  end(at);
}

void WireWriter::parameter_status(std::string_view name, std::string_view value) {
  size_t at = begin('S');
  string(name);
  string(value);
  end(at);
}

void WireWriter::backend_key_data(int32_t pid, int32_t secret) {
  size_t at = begin('K');
  int32(pid);
  int32(secret);
  end(at);
}

void WireWriter::ready_for_query(TransactionStatus status) {
  size_t at = begin('Z');
  out_.push_back(static_cast<char>(status));
  end(at);
}

void WireWriter::report(char type, const char* severity, const SqlError& error, int position) {
  size_t at = begin(type);
  auto field = [&](char code, std::string_view text) {
    if (text.empty()) return;
    out_.push_back(code);
    string(text);
  };
  field('S', severity);
  field('V', severity);
  field('C', error.state);
  field('M', error.message.empty() ? std::string_view("no message") : std::string_view(error.message));
  field('D', error.detail);
  field('H', error.hint);
  if (position > 0) field('P', std::to_string(position));
  out_.push_back('\0');
  end(at);
}

void WireWriter::error(const SqlError& error, std::string_view statement, bool fatal) {
  int position = error.position > 0 ? character_position(statement, error.position) : 0;
  report('E', fatal ? "FATAL" : "ERROR", error, position);
}

void WireWriter::notice(const SqlError& notice) {
  report('N', "NOTICE", notice, 0);
}

void WireWriter::row_description(std::span<const ResultColumn> columns,
                                 std::span<const ValueFormat> formats) {
  size_t at = begin('T');
  int16(static_cast<int>(columns.size()));
  for (size_t i = 0; i < columns.size(); ++i) {
    const SqlType& type = columns[i].type;
    string(columns[i].name);
    int32(0);  // No table,
    int16(0);  // no column of one.
    int32(type_oid(type.kind));
    int16(type_length(type.kind));
    // PostgreSQL's modifiers of numeric and varchar count four bytes of header.
    bool counts_header = type.kind == TypeKind::Numeric || type.kind == TypeKind::Text;
    int32(type.has_modifier() && counts_header ? type.modifier + 4 : type.modifier);
    int16(static_cast<int>(format_of(formats, i)));
  }
  end(at);
}

void WireWriter::data_row(std::span<const Value> values, std::span<const ValueFormat> formats) {
  size_t at = begin('D');
  int16(static_cast<int>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    size_t length_at = out_.size();
    out_.append(4, '\0');
    if (values[i].is_null()) {
      for (size_t k = 0; k < 4; ++k) out_[length_at + k] = '\xff';
      continue;
    }
    if (format_of(formats, i) == ValueFormat::Binary) {
      append_binary(values[i], out_);
    } else {
      append_text(values[i], out_);
    }
    size_t size = out_.size() - length_at - 4;
    for (size_t k = 0; k < 4; ++k) out_[length_at + k] = static_cast<char>(size >> (24 - 8 * k));
  }
  end(at);
}

void WireWriter::command_complete(std::string_view tag) {
  size_t at = begin('C');
  string(tag);
  end(at);
}

void WireWriter::parameter_description(std::span<const TypeKind> parameters,
                                       std::span<const uint32_t> given_oids) {
  size_t at = begin('t');
  int16(static_cast<int>(parameters.size()));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool is_given = i < given_oids.size() && given_oids[i] != 0;
    int32(is_given ? given_oids[i] : type_oid(parameters[i]));
  }
  end(at);
}

void WireWriter::copy_in_response(size_t columns) {
  size_t at = begin('G');
  out_.push_back('\0');  // Text.
  int16(static_cast<int>(columns));
  for (size_t i = 0; i < columns; ++i) int16(0);
  end(at);
}

}  // namespace tidemark::sql
