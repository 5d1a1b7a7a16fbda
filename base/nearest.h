// For messages that refuse a name: the known one that was probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// How many characters must be inserted, removed, replaced or swapped with their neighbour to make `a` of `b`.
size_t edit_distance(std::string_view a, std::string_view b);

// The name nearest to `given` (the first of equally near ones), if it is near enough to be a slip of the
// hand.
std::optional<std::string> nearest_name(std::string_view given, const std::vector<std::string>& known);

// " (did you mean 'x'?)", or nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace tidemark
