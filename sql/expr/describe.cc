// Expressions as text for people.
#include "sql/expr/expression.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

bool is_symbol(std::string_view name) {
  return !name.empty() && to_lower(name[0]) == name[0] && (name[0] < 'a' || name[0] > 'z');
}

std::string quoted(const Value& value) {
  if (value.is_null()) return "NULL";
  std::string out = "'";
  for (char c : to_text(value)) {
    if (c == '\'') out.push_back('\'');
    out.push_back(c);
  }
  return out + "'";
}

class Describer {
 public:
  explicit Describer(const std::vector<std::string>& columns) : columns_(columns) {}

  std::string describe(const Expression& e) const {
    switch (e.kind) {
      case ExpressionKind::Constant: return constant(e);
      case ExpressionKind::Column:
        return e.index < static_cast<int>(columns_.size()) ? columns_[e.index]
                                                           : "#" + std::to_string(e.index);
      case ExpressionKind::Param: return "$" + std::to_string(e.index + 1);
      case ExpressionKind::Outer: return "outer" + std::to_string(e.index + 1);
      case ExpressionKind::Call: return call(e);
      case ExpressionKind::Modifier: return describe(*e.args[0]) + "::" + type_name(e.type);
      case ExpressionKind::And: return "(" + list(e, " AND ") + ")";
      case ExpressionKind::Or: return "(" + list(e, " OR ") + ")";
      case ExpressionKind::Not: return "(NOT " + describe(*e.args[0]) + ")";
      case ExpressionKind::IsNull:
        return "(" + describe(*e.args[0]) + (e.negated ? " IS NOT NULL)" : " IS NULL)");
      case ExpressionKind::IsTruth: return truth(e);
      case ExpressionKind::Distinct:
        return "(" + list(e, e.negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ") + ")";
      case ExpressionKind::In: return in(e);
      case ExpressionKind::Case: return case_when(e);
      case ExpressionKind::Coalesce: return "COALESCE(" + list(e, ", ") + ")";
      case ExpressionKind::NullIf: return "NULLIF(" + list(e, ", ") + ")";
      case ExpressionKind::Greatest: return "GREATEST(" + list(e, ", ") + ")";
      case ExpressionKind::Least: return "LEAST(" + list(e, ", ") + ")";
      case ExpressionKind::Let:
        return "(LET @" + std::to_string(e.index) + " = " + describe(*e.args[0]) + " IN " +
               describe(*e.args[1]) + ")";
      case ExpressionKind::Slot: return "@" + std::to_string(e.index);
    }
    TM_UNREACHABLE();
  }

 private:
  std::string list(const Expression& e, std::string_view separator, size_t from = 0) const {
    std::string out;
    for (size_t i = from; i < e.args.size(); ++i) {
      if (i > from) out += separator;
      out += describe(*e.args[i]);
    }
    return out;
  }

  static std::string constant(const Expression& e) {
    const Value& value = e.constant.get();
    if (value.is_null()) return "NULL";
    if (is_integer(value.kind()) || value.kind() == TypeKind::Numeric) return to_text(value);
    if (value.kind() == TypeKind::Boolean) return value.as_bool() ? "true" : "false";
    return quoted(value) + (e.type.kind == TypeKind::Text ? "" : "::" + type_name(e.type));
  }

  std::string call(const Expression& e) const {
    const std::string_view name = e.function->name;
    if (name == "cast") return describe(*e.args[0]) + "::" + std::string(type_name(e.function->result));
    if (!is_symbol(name)) return std::string(name) + "(" + list(e, ", ") + ")";
    if (e.args.size() == 1) return "(" + std::string(name) + " " + describe(*e.args[0]) + ")";
    return "(" + list(e, " " + std::string(name) + " ") + ")";
  }

  std::string truth(const Expression& e) const {
    const std::string_view word = e.truth == Truth::True    ? "TRUE"
                                  : e.truth == Truth::False ? "FALSE"
                                                            : "UNKNOWN";
    return "(" + describe(*e.args[0]) + (e.negated ? " IS NOT " : " IS ") + std::string(word) + ")";
  }

  std::string in(const Expression& e) const {
    return "(" + describe(*e.args[0]) + (e.negated ? " NOT IN (" : " IN (") + list(e, ", ", 1) + "))";
  }

  std::string case_when(const Expression& e) const {
    std::string out = "CASE";
    size_t i = 0;
    for (; i + 1 < e.args.size(); i += 2)
      out += " WHEN " + describe(*e.args[i]) + " THEN " + describe(*e.args[i + 1]);
    if (i < e.args.size()) out += " ELSE " + describe(*e.args[i]);
    return out + " END";
  }

  const std::vector<std::string>& columns_;
};

}  // namespace

std::string describe(const Expression& expression, const std::vector<std::string>& column_names) {
  return Describer(column_names).describe(expression);
}

}  // namespace tidemark::sql
