#include "base/nearest.h"

#include <algorithm>

namespace tidemark {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between prefixes: of i-2, i-1 and i characters of `a`.
  std::vector<size_t> two_back(b.size() + 1);
  std::vector<size_t> back(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_back, back);
    std::swap(back, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = back[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest_name(std::string_view given, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  // A third of the characters wrong is still a slip; more is another word.
  size_t limit = std::max<size_t>(1, given.size() / 3) + 1;
  for (const std::string& name : known) {
    const size_t distance = edit_distance(given, name);
    if (distance >= limit) continue;
    best = name;
    limit = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const auto name = nearest_name(given, known);
  return name ? " (did you mean '" + *name + "'?)" : "";
}

}  // namespace tidemark
