// Failures of SQL values, as values. A Fault is two pointers to literals, cheap enough for the hot path; a
// SqlError is what a client is told.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::sql {

// The SQLSTATEs that Tidemark raises; the names are PostgreSQL's.
namespace sqlstate {
inline constexpr const char* kFeatureNotSupported = "0A000";
inline constexpr const char* kCardinalityViolation = "21000";
inline constexpr const char* kStringDataRightTruncation = "22001";
inline constexpr const char* kNumericValueOutOfRange = "22003";
inline constexpr const char* kInvalidDatetimeFormat = "22007";
inline constexpr const char* kDatetimeFieldOverflow = "22008";
inline constexpr const char* kSubstringError = "22011";
inline constexpr const char* kDivisionByZero = "22012";
inline constexpr const char* kInvalidArgumentForLogarithm = "2201E";
inline constexpr const char* kInvalidArgumentForPower = "2201F";
inline constexpr const char* kInvalidRowCountInLimit = "2201W";
inline constexpr const char* kInvalidRowCountInOffset = "2201X";
inline constexpr const char* kInvalidEscapeSequence = "22025";
inline constexpr const char* kInvalidRegularExpression = "2201B";
inline constexpr const char* kCharacterNotInRepertoire = "22021";
inline constexpr const char* kInvalidParameterValue = "22023";
inline constexpr const char* kInvalidTextRepresentation = "22P02";
inline constexpr const char* kInvalidBinaryRepresentation = "22P03";
inline constexpr const char* kBadCopyFileFormat = "22P04";
inline constexpr const char* kUntranslatableCharacter = "22P05";
inline constexpr const char* kNotNullViolation = "23502";
inline constexpr const char* kInvalidTableDefinition = "42P16";
inline constexpr const char* kSyntaxError = "42601";
inline constexpr const char* kDuplicateColumn = "42701";
inline constexpr const char* kAmbiguousColumn = "42702";
inline constexpr const char* kUndefinedColumn = "42703";
inline constexpr const char* kUndefinedObject = "42704";
inline constexpr const char* kDuplicateAlias = "42712";
inline constexpr const char* kAmbiguousFunction = "42725";
inline constexpr const char* kGroupingError = "42803";
inline constexpr const char* kDatatypeMismatch = "42804";
inline constexpr const char* kWrongObjectType = "42809";
inline constexpr const char* kCannotCoerce = "42846";
inline constexpr const char* kUndefinedFunction = "42883";
inline constexpr const char* kReservedName = "42939";
inline constexpr const char* kUndefinedTable = "42P01";
inline constexpr const char* kUndefinedParameter = "42P02";
inline constexpr const char* kDuplicateTable = "42P07";
inline constexpr const char* kInvalidColumnReference = "42P10";
inline constexpr const char* kIndeterminateDatatype = "42P18";
inline constexpr const char* kWindowingError = "42P20";
inline constexpr const char* kOutOfMemory = "53200";
inline constexpr const char* kProgramLimitExceeded = "54000";
inline constexpr const char* kStatementTooComplex = "54001";
inline constexpr const char* kTooManyColumns = "54011";
inline constexpr const char* kDataCorrupted = "XX001";
}  // namespace sqlstate

// Success, or a SQLSTATE with a message. Both point to literals.
class [[nodiscard]] Fault {
 public:
  constexpr Fault() = default;
  // `message` may be null where the caller knows better what to say (input of a type from text).
  constexpr Fault(const char* state, const char* message) : state_(state), message_(message) {}

  constexpr bool ok() const { return state_ == nullptr; }
  constexpr const char* state() const { return state_; }
  constexpr const char* message() const { return message_; }

 private:
  const char* state_ = nullptr;
  const char* message_ = nullptr;
};

inline constexpr Fault kOk{};
inline constexpr Fault kDivisionByZero{sqlstate::kDivisionByZero, "division by zero"};
inline constexpr Fault kNumericOverflow{sqlstate::kNumericValueOutOfRange, "value overflows numeric format"};
// The text or bytes are no value of the type.
inline constexpr Fault kInvalidText{sqlstate::kInvalidTextRepresentation, nullptr};
inline constexpr Fault kInvalidBinary{sqlstate::kInvalidBinaryRepresentation, nullptr};

// What a client is told. `position` is the byte offset in the statement plus one, 0 where there is none.
struct SqlError {
  std::string state;
  std::string message;
  int position = 0;
  std::string detail;
  std::string hint;
};

inline SqlError to_error(Fault fault, int position = 0) {
  return {fault.state(), fault.message() != nullptr ? fault.message() : "invalid value", position, {}, {}};
}

// PostgreSQL counts characters where we count bytes: the position as a client wants it.
int character_position(std::string_view statement, int byte_position);

// Returns the fault of `expression` from the enclosing function, if it has one.
#define TM_SQL_TRY(expression)                                                         \
  do {                                                                                 \
    if (::tidemark::sql::Fault tm_fault = (expression); !tm_fault.ok()) [[unlikely]] { \
      return tm_fault;                                                                 \
    }                                                                                  \
  } while (false)

}  // namespace tidemark::sql
