// A region's row rules in the plainest way: rows in ordered maps, no parts, no log. Effects in, changes out.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "proto/catalog.pb.h"
#include "proto/change.h"
#include "proto/effect.h"
#include "sql/table/table_codec.h"

namespace tidemark {

// A change that owns its bytes.
struct OwnedChange {
  TableId table;
  uint64_t hash = 0;
  std::string key;
  std::optional<std::string> before, after;
  bool has_matches = false, first_of_side = false, last_of_side = false;
  std::string matches;

  Change view() const;
};

class NaiveStore {
 public:
  void add_table(const pb::TableDefinition& definition);
  void put(TableId table, uint64_t hash, std::string_view key, std::optional<std::string> row,
           std::deque<OwnedChange>& out);
  void apply(const Effect& effect, std::deque<OwnedChange>& out);
  // After the effects of one batch: derived columns and TOP tables.
  void finish_batch(std::deque<OwnedChange>& out);

  const std::map<std::string, std::string>& rows(TableId table) const;
  const pb::TableDefinition& definition(TableId table) const { return *tables_.at(table).definition; }
  const sql::TableCodec& codec(TableId table) const { return *tables_.at(table).codec; }

  size_t matches_max = 1000;  // In one change; the others follow as further changes.

 private:
  struct Table {
    std::shared_ptr<pb::TableDefinition> definition;
    std::shared_ptr<sql::TableCodec> codec;
    std::map<std::string, std::string> rows;  // By key.
    std::map<std::string, uint64_t> hashes;
  };

  std::string group_of(const Table& table, std::string_view key) const;
  std::vector<std::pair<std::string, std::string>> rows_of_group(const Table& table,
                                                                 const std::string& group) const;
  void add(Table& table, const Effect& effect, std::deque<OwnedChange>& out);

  std::map<TableId, Table> tables_;
  std::set<std::pair<TableId, std::string>> touched_;  // Groups of multisets.
  std::set<std::pair<TableId, std::string>> touched_sums_;
};

}  // namespace tidemark
