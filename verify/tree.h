// The tree of PostgreSQL's parser (libpg_query), as its JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::verify {

// A node, a list, a string or a number of the tree, or nothing. A value that points into its ParsedQuery.
class Tree {
 public:
  Tree() = default;
  explicit Tree(const void* element) : element_(element) {}

  explicit operator bool() const { return element_ != nullptr; }
  // A member of an object; nothing if it has none of that name.
  Tree operator[](std::string_view name) const;
  // Items of a list; none if this is nothing.
  std::vector<Tree> items() const;
  // A node is an object of one member, named after its kind.
  std::string kind() const;
  Tree body() const;
  // Nothing is "", 0 and false, as the parser leaves such members out.
  std::string text() const;
  int64_t integer() const;
  bool truth() const;

 private:
  const void* element_ = nullptr;
};

class ParsedQuery {
 public:
  // REQUIRES nothing of the text: an error says why it is not one query.
  static Result<ParsedQuery> parse(const std::string& sql);
  ParsedQuery(ParsedQuery&&) noexcept;
  ~ParsedQuery();

  // The body of its SelectStmt.
  Tree select() const { return select_; }
  // Names of all tables and views that it reads, names of its WITH queries among them.
  std::set<std::string> relations() const;

 private:
  struct Document;
  ParsedQuery();

  std::unique_ptr<Document> document_;
  Tree select_;
};

}  // namespace tidemark::verify
