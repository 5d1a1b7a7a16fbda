// Changes: what a record did to rows. The same bytes lie in the log, in queues and at view managers, and are
// read in place. docs/formats.md has the layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/types.h"

namespace tidemark {

// A row of the partner table under the same join key.
struct Match {
  std::string_view key;
  std::string_view row;
};

// All views point into the encoded bytes (reading) or into the caller's memory (writing).
struct Change {
  TableId table;
  uint64_t hash = 0;  // Of the distribution columns: ShardCount::shard_of(hash) is the lane.
  std::string_view key;
  std::optional<std::string_view> before;  // If any view needs it and there was a row.
  std::optional<std::string_view> after;   // None: the row is gone.

  // JOIN_SIDE tables only: the partner's rows, in key order; all of them, or a page.
  bool has_matches = false;
  std::string_view matches;  // Encoded; see MatchReader.
  // The change made the first row of its side under its join key, or took the last: a left join puts or
  // deletes the rows that stand for "no match".
  bool first_of_side = false;
  bool last_of_side = false;

  std::string_view skipped_views;  // Encoded; see skips(). A later backfill page brings the row to them.
  bool skips(TableId view) const;
};

void append_change(std::string& out, const Change& change);
void append_match(std::string& out, const Match& match);
void append_skipped_view(std::string& out, TableId view);

class MatchReader {
 public:
  explicit MatchReader(std::string_view matches) : reader_(matches) {}
  bool next(Match& out);
  bool ok() const { return reader_.ok(); }

 private:
  ByteReader reader_;
};

// for (ChangeReader r(bytes); r.next(change);) ...; then ok() tells whether all was well formed.
class ChangeReader {
 public:
  explicit ChangeReader(std::string_view changes) : reader_(changes) {}

  bool next(Change& out);

  // The cheap way for routers: only the hash, and the whole encoded change to copy.
  bool next_raw(uint64_t& hash, std::string_view& encoded);

  bool ok() const { return reader_.ok(); }

 private:
  ByteReader reader_;
};

}  // namespace tidemark
