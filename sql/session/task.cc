#include "sql/session/task.h"

namespace tidemark::sql {

std::vector<Value> Running::params() const {
  std::vector<Value> out;
  for (const OwnedValue& value : parameters) out.push_back(value.get());
  return out;
}

ExecutionSettings Running::execution_settings() const {
  ExecutionSettings out;
  out.params = params();
  out.now_micros = now_micros;
  out.random_seed = random_seed;
  out.user = session.user;
  out.database = session.database;
  out.memory_bytes_max = service.query_bytes_max;
  return out;
}

Evaluation Running::evaluation(const std::vector<Value>& params) const {
  Evaluation out;
  out.params = params;
  out.now_micros = now_micros;
  out.random = Random(random_seed);
  out.user = session.user;
  out.database = session.database;
  return out;
}

}  // namespace tidemark::sql
