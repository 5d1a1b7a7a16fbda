// PostgreSQL's protocol 3.0, byte by byte: reading what clients send and writing what they expect.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/gateway/session.h"

namespace tidemark::sql {

inline constexpr int32_t kProtocolVersion3 = 196608;
inline constexpr int32_t kCancelRequest = 80877102;
inline constexpr int32_t kSslRequest = 80877103;
inline constexpr int32_t kGssEncRequest = 80877104;

inline constexpr size_t kStartupBytesMax = 10'000;
inline constexpr size_t kMessageBytesMax = size_t{64} << 20;

// Reads big-endian integers and zero-ended strings. Total: after a failure all reads give zeros.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  bool done() const { return left_.empty(); }
  int16_t int16() { return static_cast<int16_t>(integer(2)); }
  size_t count() { return integer(2); }  // Of what follows: up to 65,535.
  int32_t int32() { return static_cast<int32_t>(integer(4)); }
  uint8_t byte() { return static_cast<uint8_t>(integer(1)); }
  std::string_view string();
  std::string_view bytes(size_t size);

 private:
  uint32_t integer(size_t size);

  std::string_view left_;
  bool ok_ = true;
};

enum class ValueFormat : uint8_t { Text = 0, Binary = 1 };

// Appends whole messages to a buffer.
class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}

  void authentication_ok();
  void negotiate_protocol_version(std::span<const std::string> unknown_options);
  void parameter_status(std::string_view name, std::string_view value);
  void backend_key_data(int32_t pid, int32_t secret);
  void ready_for_query(TransactionStatus status);
  void error(const SqlError& error, std::string_view statement, bool fatal = false);
  void notice(const SqlError& notice);
  void row_description(std::span<const ResultColumn> columns, std::span<const ValueFormat> formats);
  void data_row(std::span<const Value> values, std::span<const ValueFormat> formats);
  void command_complete(std::string_view tag);
  // A type that the client gave is told as it was given: varchar is not text to all of them.
  void parameter_description(std::span<const TypeKind> parameters, std::span<const uint32_t> given_oids);
  void copy_in_response(size_t columns);
  // Messages that are only their type: '1' ParseComplete, '2' BindComplete, '3' CloseComplete, 'n' NoData,
  // 's' PortalSuspended, 'I' EmptyQueryResponse.
  void plain(char type);

 private:
  size_t begin(char type);
  void end(size_t at);
  void int16(int value);
  void int32(int64_t value);
  void string(std::string_view text);
  void report(char type, const char* severity, const SqlError& error, int position);

  std::string& out_;
};

// The format of a column: none given means text, one is for all.
ValueFormat format_of(std::span<const ValueFormat> formats, size_t column);

}  // namespace tidemark::sql
