#include "tests/sql/agreement.h"

#include <algorithm>

#include "sql/types/fault.h"

namespace tidemark::sql::testing {
namespace {

bool is_about_reading_dates(const Answer& ours, const Answer& theirs) {
  const auto is_date_state = [](const Answer& answer) {
    return answer.sqlstate == "22007" || answer.sqlstate == "22008" || answer.sqlstate == "22009" ||
           answer.sqlstate == "22015" || answer.message.find("time zone \"") != std::string::npos;
  };
  const bool is_input = ours.message.starts_with("invalid input syntax for type") ||
                        ours.message.starts_with("date/time field value") ||
                        ours.message.starts_with("time zone displacement") ||
                        ours.message.starts_with("interval field value");
  if (!is_date_state(ours)) return false;
  return is_input ? theirs.ok() || is_date_state(theirs) : theirs.sqlstate == "22007";
}

bool is_about_missing_functions(const Answer& ours, const Answer& theirs) {
  return ours.sqlstate == sqlstate::kFeatureNotSupported ||
         (ours.sqlstate == sqlstate::kUndefinedFunction && !theirs.ok());
}

// Not refused before it ran.
bool fails_when_run(const Answer& answer) {
  return !answer.ok() && !answer.sqlstate.starts_with("42");
}

// A number without the zeros at its end, if it is numeric; 0 for -0.
std::string canonical(const std::string& type, const std::string& text) {
  if (text == "-0") return "0";
  if (type != "numeric" || text.find('.') == std::string::npos) return text;
  std::string out = text.substr(0, text.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out == "-0" ? "0" : out;
}

}  // namespace

bool agree(Answer ours, Answer theirs, Planning planning, RowOrder order) {
  if (is_about_missing_functions(ours, theirs) || is_about_reading_dates(ours, theirs)) return true;
  if (planning == Planning::OfConstants && (!ours.ok() || !theirs.ok())) return true;
  if (planning == Planning::OfQuery && (fails_when_run(ours) || fails_when_run(theirs))) return true;
  if (ours.sqlstate != theirs.sqlstate || ours.types != theirs.types) return false;
  for (Answer* answer : {&ours, &theirs}) {
    for (auto& row : answer->rows) {
      for (size_t i = 0; i < row.size() && planning == Planning::OfQuery; ++i)
        row[i] = canonical(answer->types[i], row[i]);
    }
    if (order == RowOrder::DoesNot) std::sort(answer->rows.begin(), answer->rows.end());
  }
  return ours.rows == theirs.rows;
}

}  // namespace tidemark::sql::testing
