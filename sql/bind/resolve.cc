#include "sql/bind/resolve.h"

#include <algorithm>

namespace tidemark::sql {
namespace {

using Candidates = std::vector<const Function*>;
using Types = std::span<const TypeKind>;

bool takes_count(const Function& function, size_t count) {
  return function.variadic ? count >= static_cast<size_t>(function.arg_count)
                           : count == static_cast<size_t>(function.arg_count);
}

bool takes(const Function& function, Types args) {
  if (!takes_count(function, args.size())) return false;
  for (int i = 0; i < function.arg_count; ++i) {
    if (!is_implicit_cast(args[i], function.args[i])) return false;
  }
  return true;
}

bool is_exact(const Function& function, Types args) {
  if (!takes_count(function, args.size())) return false;
  for (int i = 0; i < function.arg_count; ++i) {
    if (function.args[i] != args[i]) return false;
  }
  return true;
}

// Keeps the candidates with the highest score.
template <typename Score>
void keep_best(Candidates& candidates, const Score& score) {
  int best = -1;
  Candidates kept;
  for (const Function* candidate : candidates) {
    const int points = score(*candidate);
    if (points > best) {
      best = points;
      kept.clear();
    }
    if (points == best) kept.push_back(candidate);
  }
  candidates = std::move(kept);
}

int exact_matches(const Function& function, Types args) {
  int count = 0;
  for (int i = 0; i < function.arg_count; ++i)
    count += args[i] != TypeKind::Unknown && function.args[i] == args[i];
  return count;
}

int exact_or_preferred(const Function& function, Types args) {
  int count = 0;
  for (int i = 0; i < function.arg_count; ++i) {
    if (args[i] == TypeKind::Unknown) continue;
    const bool preferred =
        is_preferred(function.args[i]) && category_of(function.args[i]) == category_of(args[i]);
    count += function.args[i] == args[i] || preferred;
  }
  return count;
}

// For each untyped argument: the category that all candidates take, or text if any does; then only candidates
// of that category, and of its preferred type if some take it.
bool keep_by_unknown_categories(Candidates& candidates, Types args) {
  Candidates kept = candidates;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] != TypeKind::Unknown) continue;
    bool conflict = false, text = false;
    TypeCategory category = category_of(candidates[0]->args[i]);
    for (const Function* candidate : candidates) {
      const TypeCategory other = category_of(candidate->args[i]);
      conflict = conflict || other != category || other == TypeCategory::Other;
      text = text || other == TypeCategory::String;
    }
    if (candidates.size() == 1) conflict = false;
    if (text) category = TypeCategory::String;
    if (conflict && !text) return false;
    const bool has_preferred =
        std::any_of(candidates.begin(), candidates.end(), [&](const Function* candidate) {
          return category_of(candidate->args[i]) == category && is_preferred(candidate->args[i]);
        });
    std::erase_if(kept, [&](const Function* candidate) {
      return category_of(candidate->args[i]) != category ||
             (has_preferred && !is_preferred(candidate->args[i]));
    });
  }
  if (!kept.empty()) candidates = std::move(kept);
  return true;
}

// If all typed arguments are of one type, the untyped ones may be of it, too.
const Function* by_common_type(const Candidates& candidates, Types args) {
  TypeKind common = TypeKind::Unknown;
  for (TypeKind kind : args) {
    if (kind == TypeKind::Unknown) continue;
    if (common != TypeKind::Unknown && common != kind) return nullptr;
    common = kind;
  }
  if (common == TypeKind::Unknown) return nullptr;
  const std::vector<TypeKind> guess(args.size(), common);
  const Function* found = nullptr;
  for (const Function* candidate : candidates) {
    if (!takes(*candidate, guess)) continue;
    if (found != nullptr) return nullptr;
    found = candidate;
  }
  return found;
}

}  // namespace

std::vector<TypeKind> kinds_of(const std::vector<ExpressionPtr>& args) {
  std::vector<TypeKind> out;
  for (const ExpressionPtr& arg : args) out.push_back(arg->type.kind);
  return out;
}

Resolution resolve_candidate(std::span<const Function* const> all, Types args, const Function*& out) {
  Candidates candidates;
  for (const Function* candidate : all) {
    if (is_exact(*candidate, args)) {
      out = candidate;
      return Resolution::Found;
    }
    if (takes(*candidate, args)) candidates.push_back(candidate);
  }
  if (candidates.empty()) return Resolution::None;
  if (candidates.size() > 1)
    keep_best(candidates, [args](const Function& f) { return exact_matches(f, args); });
  if (candidates.size() > 1)
    keep_best(candidates, [args](const Function& f) { return exact_or_preferred(f, args); });
  const bool has_unknown = std::find(args.begin(), args.end(), TypeKind::Unknown) != args.end();
  if (candidates.size() > 1) {
    if (!has_unknown) return Resolution::Ambiguous;
    if (keep_by_unknown_categories(candidates, args) && candidates.size() == 1) {
      out = candidates[0];
      return Resolution::Found;
    }
    out = by_common_type(candidates, args);
    return out != nullptr ? Resolution::Found : Resolution::Ambiguous;
  }
  out = candidates[0];
  return Resolution::Found;
}

Resolution resolve_operator(std::span<const Function* const> candidates, Types args, const Function*& out) {
  if (args.size() == 2 && (args[0] == TypeKind::Unknown) != (args[1] == TypeKind::Unknown)) {
    const TypeKind known = args[0] == TypeKind::Unknown ? args[1] : args[0];
    const TypeKind guess[] = {known, known};
    for (const Function* candidate : candidates) {
      if (is_exact(*candidate, guess)) {
        out = candidate;
        return Resolution::Found;
      }
    }
  }
  return resolve_candidate(candidates, args, out);
}

}  // namespace tidemark::sql
