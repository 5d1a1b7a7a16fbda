#include "bench/nexmark/nexmark.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/assert.h"

namespace tidemark::nexmark {

namespace {

constexpr int64_t kFirstId = 1000;
constexpr int64_t kFirstCategory = 10, kCategories = 5;
constexpr int64_t kSideInputRows = 20;
constexpr int64_t kEventsPerSecond = 2;

constexpr std::array<const char*, 6> kStates = {"az", "ca", "id", "or", "wa", "wy"};
constexpr std::array<const char*, 6> kCities = {"Phoenix",  "Los Angeles", "Boise",
                                                "Portland", "Seattle",     "Cheyenne"};
constexpr std::array<const char*, 5> kNames = {"Ada Kent", "Bo Reed", "Cy Hale", "Di Ames", "Ed Wolf"};
constexpr std::array<const char*, 4> kChannels = {"Apple", "Google", "Facebook", "Baidu"};

template <size_t N>
const char* pick(Random& random, const std::array<const char*, N>& from) {
  return from[random.below(N)];
}

}  // namespace

const std::vector<Table>& tables() {
  static const std::vector<Table> kTables = {
      {TableName::Person,
       "person",
       {{"id", "bigint"},
        {"name", "text"},
        {"email_address", "text"},
        {"credit_card", "text"},
        {"city", "text"},
        {"state", "text"},
        {"date_time", "timestamp without time zone"},
        {"extra", "text"}}},
      {TableName::Auction,
       "auction",
       {{"id", "bigint"},
        {"item_name", "text"},
        {"description", "text"},
        {"initial_bid", "bigint"},
        {"reserve", "bigint"},
        {"date_time", "timestamp without time zone"},
        {"expires", "timestamp without time zone"},
        {"seller", "bigint"},
        {"category", "bigint"},
        {"extra", "text"}}},
      {TableName::Bid,
       "bid",
       {{"id", "bigint"},
        {"auction", "bigint"},
        {"bidder", "bigint"},
        {"price", "bigint"},
        {"channel", "text"},
        {"url", "text"},
        {"date_time", "timestamp without time zone"},
        {"extra", "text"}}},
      {TableName::SideInput, "side_input", {{"key", "bigint"}, {"value", "text"}}},
  };
  return kTables;
}

std::string create_table_sql(const Table& table) {
  std::string out = "create table " + table.sql_name + " (";
  for (const Column& column : table.columns) out += column.name + " " + column.type + ", ";
  return out + "primary key (" + table.columns.front().name + "))";
}

std::vector<Event> side_input() {
  std::vector<Event> out;
  for (int64_t i = 0; i < kSideInputRows; ++i) {
    out.push_back({TableName::SideInput, {std::to_string(i), "value " + std::to_string(i)}});
  }
  return out;
}

Event Generator::next() {
  const int64_t of_fifty = events_++ % 50;
  if (of_fifty == 0) return person();
  if (of_fifty <= 3) return auction(std::to_string(kFirstId + auctions_++));
  return bid(std::to_string(kFirstId + bids_++));
}

// Days of a thousand seconds would make dates dull: time runs in steps that reach the next day soon.
std::string Generator::at(int64_t seconds) const {
  constexpr int64_t kStep = 300;
  const int64_t all = events_ / kEventsPerSecond * kStep + seconds;
  const int64_t day = all / 86'400, left = all % 86'400;
  TM_ASSERT(day < 365 * 20, day);
  constexpr int64_t kDaysPerMonth = 28;
  const int64_t month = day / kDaysPerMonth;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d:%02d",
                static_cast<int>(2024 + month / 12), static_cast<int>(1 + month % 12),
                static_cast<int>(1 + day % kDaysPerMonth), static_cast<int>(left / 3600),
                static_cast<int>(left / 60 % 60), static_cast<int>(left % 60));
  return text.data();
}

std::string Generator::now() const {
  return at(0);
}

std::string Generator::word(size_t length) {
  std::string out;
  while (out.size() < length) out += static_cast<char>('a' + random_.below(8));
  return out;
}

// From 100 to 100,000,000, small ones as likely as large ones.
int64_t Generator::price() {
  int64_t scale = 100;
  for (int64_t n = random_.between(0, 5); n > 0; --n) scale *= 10;
  return random_.between(scale, scale * 10);
}

std::string Generator::any_person() {
  return std::to_string(kFirstId + random_.between(0, std::max<int64_t>(people_ - 1, 0)));
}

Event Generator::person() {
  const std::string id = std::to_string(kFirstId + people_++);
  const std::string name = pick(random_, kNames);
  const size_t place = random_.below(kStates.size());
  return {TableName::Person,
          {id, name, word(6) + "@" + word(4) + ".com", std::to_string(random_.between(1000, 9999)),
           kCities[place], kStates[place], now(), word(8)}};
}

Event Generator::auction(const std::string& key) {
  const int64_t first = price();
  return {TableName::Auction,
          {key, word(5), word(12), std::to_string(first), std::to_string(first + price()), now(),
           at(random_.between(600, 40'000)), any_person(),
           std::to_string(kFirstCategory + random_.between(0, kCategories - 1)), word(8)}};
}

// Mostly of the newest auctions; some for auctions that are not there, or not yet.
Event Generator::bid(const std::string& key) {
  const int64_t newest = std::max<int64_t>(auctions_ - 1, 0);
  const int64_t auction = random_.chance(0.7) ? random_.between(std::max<int64_t>(newest - 4, 0), newest + 1)
                                              : random_.between(0, newest);
  const bool named = random_.chance(0.6);
  const std::string channel =
      named ? std::string(pick(random_, kChannels)) : "channel-" + std::to_string(random_.between(0, 9));
  std::string url =
      "https://www.nexmark.com/" + word(3) + "/" + word(3) + "/" + word(3) + "/item.htm?query=1";
  if (!named && random_.chance(0.8)) url += "&channel_id=" + std::to_string(random_.between(0, 9999));
  return {TableName::Bid,
          {key, std::to_string(kFirstId + auction), any_person(), std::to_string(price()), channel, url,
           now(), word(10)}};
}

}  // namespace tidemark::nexmark
