#include "tests/cluster/key_log.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark::crash {
namespace {

std::string shown(const RowState& state) {
  return state ? "(" + *state + ")" : "no row";
}

}  // namespace

void append(Findings& all, const Findings& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void KeyLog::note(const std::string& key, const RowState& written, Fate fate) {
  Entry& entry = entries_[key];
  TM_ASSERT(!entry.maybe.has_value());
  switch (fate) {
    case Fate::Done: entry.known = written; break;
    case Fate::NotDone: entry.refused.push_back(written); break;
    case Fate::Unknown: entry.maybe = written; break;
  }
}

bool KeyLog::may_write(const std::string& key) const {
  auto entry = entries_.find(key);
  return entry == entries_.end() || !entry->second.maybe.has_value();
}

RowState KeyLog::known(const std::string& key) const {
  TM_ASSERT(may_write(key));
  auto entry = entries_.find(key);
  return entry == entries_.end() ? RowState() : entry->second.known;
}

Findings KeyLog::check(const std::string& table, std::map<std::string, std::string>& rows) const {
  Findings out;
  for (const auto& [key, entry] : entries_) {
    auto row = rows.find(key);
    const RowState found = row == rows.end() ? RowState() : RowState(row->second);
    if (row != rows.end()) rows.erase(row);
    if (found == entry.known || (entry.maybe && found == *entry.maybe)) continue;
    const bool refused = std::count(entry.refused.begin(), entry.refused.end(), found) > 0;
    out.push_back(table + " " + key + ": there is " + shown(found) + (refused ? ", which was refused" : "") +
                  "; acknowledged was " + shown(entry.known) +
                  (entry.maybe ? ", perhaps " + shown(*entry.maybe) : ""));
  }
  return out;
}

}  // namespace tidemark::crash
