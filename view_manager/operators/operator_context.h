// What operators share while they run: memory for the values of one change, and where effects go.
#pragma once

#include <string>
#include <vector>

#include "sql/expr/evaluation.h"
#include "sql/types/value.h"
#include "view_manager/effect_writer.h"

namespace tidemark {

// Reused from change to change; nothing in it outlives the change.
struct OperatorContext {
  sql::Evaluation evaluation;
  EffectWriter* out = nullptr;
};

// A row of a flow as a sink gets it: the values of the sink's expressions.
struct FlowRow {
  enum class State : uint8_t { Absent, Present, Failed };
  State state = State::Absent;
  std::vector<sql::Value> values;
  sql::SqlError error;  // Failed.

  bool is_absent() const { return state == State::Absent; }
  bool is_present() const { return state == State::Present; }
  bool is_failed() const { return state == State::Failed; }
};

}  // namespace tidemark
