// Random SELECT statements over named relations: all that views may be made of.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace tidemark::views {

// Types as the generator tells them apart.
enum class Kind : uint8_t {
  Integer,
  BigInt,
  Numeric,
  Average,  // A numeric of many digits: its average would depend on what was there once.
  Text,
  Boolean,
  Date,
};

struct QueryColumn {
  std::string name;
  Kind kind;
};

struct NamedRelation {
  std::string name;
  std::vector<QueryColumn> columns;
};

struct Query {
  std::string sql;
  std::vector<QueryColumn> columns;  // c1, c2, ...
};

class RandomQueries {
 public:
  // REQUIRES: `relations` has one at least, and outlives this.
  RandomQueries(Random& random, const std::vector<NamedRelation>& relations)
      : random_(random), relations_(relations) {}

  // With at most `depth` subqueries within each other.
  Query query(int depth);

 private:
  struct Source {
    std::string from;
    std::vector<QueryColumn> columns;  // Names with their alias.
  };

  Source one(int depth);
  Source joined(int depth);
  // With a row per word of a text, if it has any text.
  void add_words(Source& source);
  Source any(int depth);
  std::string equality(const Source& left, const Source& right);

  Query plain(int depth);
  Query grouped(int depth);
  Query distinct(int depth);
  Query united(int depth);
  Query first(int depth);
  Query first_of_each(int depth);
  Query numbered(int depth);

  std::string aggregate(const Source& source, Kind& kind);
  std::string having(const Source& source);
  std::string condition(const Source& source, int depth);
  std::string expression(const Source& source, Kind kind, int depth);
  std::string number(const Source& source, Kind kind, int depth);
  std::string literal(Kind kind);
  std::string where(const Source& source);
  const QueryColumn* column(const Source& source, Kind kind);
  Kind any_kind();

  std::string alias() { return "s" + std::to_string(++aliases_); }
  uint64_t below(uint64_t bound) { return random_.below(bound); }

  Random& random_;
  const std::vector<NamedRelation>& relations_;
  int aliases_ = 0;
};

}  // namespace tidemark::views
