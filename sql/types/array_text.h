// Arrays as PostgreSQL writes them: {a,"b c",NULL}. Tidemark has no array type: in expressions, an array is a
// text in this form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::sql {

// An element; nothing for NULL.
using ArrayElement = std::optional<std::string>;

// The elements of an array of one dimension, or of a vector of the catalog: "1 2". Nothing: it is no such
// text.
std::optional<std::vector<ArrayElement>> parse_array(std::string_view text);

// Appends one element, quoted where it must be, to `out`, which starts with "{" and is still open.
void append_array_element(const ArrayElement& element, std::string& out);

std::string format_array(const std::vector<ArrayElement>& elements);

}  // namespace tidemark::sql
