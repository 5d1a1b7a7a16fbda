// What one writer knows of the keys that it alone writes, to be compared with what is there in the end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/cluster/sql_client.h"

namespace tidemark::crash {

// What was found to be wrong, for people; empty: nothing.
using Findings = std::vector<std::string>;
void append(Findings& all, const Findings& more);

// A row as text; none: the row is not there.
using RowState = std::optional<std::string>;

// A write of unknown fate may be done at any time later. So its key is not written again: from then on the
// row is as it was before, or as that write makes it, and nothing else.
class KeyLog {
 public:
  // REQUIRES: may_write(key).
  void note(const std::string& key, const RowState& written, Fate fate);

  bool may_write(const std::string& key) const;
  // What is there for certain. REQUIRES: may_write(key).
  RowState known(const std::string& key) const;

  // Takes from `rows` (key -> row) all that this log knows, and says what is wrong with it.
  Findings check(const std::string& table, std::map<std::string, std::string>& rows) const;

 private:
  struct Entry {
    RowState known;
    std::optional<RowState> maybe;
    std::vector<RowState> refused;  // Must never be seen, unless it is what is known anyway.
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace tidemark::crash
