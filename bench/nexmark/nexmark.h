// The auction site of the Nexmark benchmark: people put items up for auction, others bid. A seed decides
// every event; of 50 events one is a person, three are auctions, the others bids. Values are texts, as COPY
// takes them; the first column of each table is its key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace tidemark::nexmark {

enum class TableName : uint8_t { Person, Auction, Bid, SideInput };

struct Column {
  std::string name, type;
};

struct Table {
  TableName name;
  std::string sql_name;
  std::vector<Column> columns;
};

// In the order of TableName.
const std::vector<Table>& tables();
std::string create_table_sql(const Table& table);

struct Event {
  TableName table;
  std::vector<std::string> values;
};

// What query 13 joins bids with: all of it, once.
std::vector<Event> side_input();

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Event next();

  // A new value of the bid or auction with this key (as text), at the present time: for updates.
  Event bid(const std::string& key);
  Event auction(const std::string& key);

 private:
  Event person();
  std::string any_person();
  std::string now() const;
  std::string at(int64_t seconds) const;
  std::string word(size_t length);
  int64_t price();

  Random random_;
  int64_t events_ = 0;
  int64_t people_ = 0, auctions_ = 0, bids_ = 0;
};

}  // namespace tidemark::nexmark
