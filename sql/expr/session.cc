// Functions that are not of the row: time, chance and who asks. Views refuse them.
#include "sql/expr/function.h"
#include "sql/types/datetime.h"

namespace tidemark::sql {
namespace {

Fault now(Evaluation& evaluation, const Value*, int, Value& out) {
  out = Value::timestamptz(evaluation.now_micros);
  return kOk;
}
Fault local_timestamp(Evaluation& evaluation, const Value*, int, Value& out) {
  out = Value::timestamp(evaluation.now_micros);
  return kOk;
}
Fault current_date(Evaluation& evaluation, const Value*, int, Value& out) {
  out = Value::date(timestamp_to_date(evaluation.now_micros));
  return kOk;
}
Fault random(Evaluation& evaluation, const Value*, int, Value& out) {
  out = Value::float8(evaluation.random.unit());
  return kOk;
}
Fault random_uuid(Evaluation& evaluation, const Value*, int, Value& out) {
  Uuid uuid;
  for (uint8_t& byte : uuid) byte = static_cast<uint8_t>(evaluation.random.next());
  uuid[6] = static_cast<uint8_t>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<uint8_t>((uuid[8] & 0x3f) | 0x80);
  out = Value::uuid(uuid);
  return kOk;
}
Fault user(Evaluation& evaluation, const Value*, int, Value& out) {
  out = Value::text(evaluation.arena.copy(evaluation.user));
  return kOk;
}
Fault database(Evaluation& evaluation, const Value*, int, Value& out) {
  out = Value::text(evaluation.arena.copy(evaluation.database));
  return kOk;
}
Fault schema(Evaluation&, const Value*, int, Value& out) {
  out = Value::text("public");
  return kOk;
}
Fault version(Evaluation&, const Value*, int, Value& out) {
  out = Value::text("PostgreSQL 15.0 (Tidemark)");
  return kOk;
}

Function with(Volatility volatility, Function function) {
  function.volatility = volatility;
  return function;
}

}  // namespace

std::vector<Function> session_functions() {
  constexpr TypeKind kZoned = TypeKind::TimestampTz, T = TypeKind::Text;
  return {
      with(Volatility::Stable, Function::of("now", {}, kZoned, now)),
      with(Volatility::Stable, Function::of("current_timestamp", {}, kZoned, now)),
      with(Volatility::Stable, Function::of("transaction_timestamp", {}, kZoned, now)),
      with(Volatility::Stable, Function::of("statement_timestamp", {}, kZoned, now)),
      with(Volatility::Volatile, Function::of("clock_timestamp", {}, kZoned, now)),
      with(Volatility::Stable, Function::of("localtimestamp", {}, TypeKind::Timestamp, local_timestamp)),
      with(Volatility::Stable, Function::of("current_date", {}, TypeKind::Date, current_date)),
      with(Volatility::Volatile, Function::of("random", {}, TypeKind::Double, random)),
      with(Volatility::Volatile, Function::of("gen_random_uuid", {}, TypeKind::Uuid, random_uuid)),
      with(Volatility::Stable, Function::of("current_user", {}, T, user)),
      with(Volatility::Stable, Function::of("session_user", {}, T, user)),
      with(Volatility::Stable, Function::of("current_database", {}, T, database)),
      with(Volatility::Stable, Function::of("current_schema", {}, T, schema)),
      with(Volatility::Stable, Function::of("version", {}, T, version)),
  };
}

}  // namespace tidemark::sql
