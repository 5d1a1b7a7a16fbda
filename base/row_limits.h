// How large rows are, with their keys.
#pragma once

#include <cstddef>

namespace tidemark {

// Of a table: what is larger is refused.
inline constexpr size_t kRowBytesMax = 128 * 1024;

// Of a view, or of a table that belongs to one: what is larger goes to the view's error set. The most that
// one effect brings to a record must fit its 900,000 bytes: a row of a join's side before and after, once as
// a change and once for the pages of its matches; the matches of the first page; the key of the last of them.
inline constexpr size_t kViewRowBytesMax = 140'000;

}  // namespace tidemark
