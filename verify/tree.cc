#include "verify/tree.h"

#include <pg_query.h>
#include <simdjson.h>

#include <charconv>
#include <deque>
#include <map>
#include <variant>

namespace tidemark::verify {

namespace {

// A copy of the tree whose nodes stay where they are.
struct Element {
  std::variant<std::monostate, std::string, int64_t, bool> scalar;
  std::vector<const Element*> items;
  std::map<std::string, const Element*, std::less<>> members;
};

const Element* as_element(const void* element) {
  return static_cast<const Element*>(element);
}

}  // namespace

struct ParsedQuery::Document {
  std::deque<Element> elements;
  std::string sql;
  bool understood = true;

  // libpg_query leaves negative integers out of its JSON, as it does zeros: which of them it was is where the
  // constant stands in the statement. False: it does not stand there.
  bool restore_integer(Element& constant) {
    const auto found = constant.members.find("ival");
    if (found == constant.members.end() || found->second->scalar.index() != 0) return true;
    if (found->second->members.contains("ival")) return true;
    const int64_t location = Tree(&constant)["location"].integer();
    if (location < 0 || location >= static_cast<int64_t>(sql.size())) return false;
    size_t at = static_cast<size_t>(location);
    const bool negative = sql[at] == '-';
    if (negative) at = sql.find_first_not_of(" \t\r\n", at + 1);
    int64_t value = 0;
    if (at == std::string::npos) return false;
    const char* end = sql.data() + sql.size();
    if (std::from_chars(sql.data() + at, end, value).ec != std::errc()) return false;
    if (!negative && value != 0) return false;
    Element& integer = elements.emplace_back();
    integer.scalar = -value;
    Element& body = elements.emplace_back();
    body.members["ival"] = &integer;
    found->second = &body;
    return true;
  }

  const Element* copy(simdjson::dom::element from) {
    Element& out = elements.emplace_back();
    switch (from.type()) {
      case simdjson::dom::element_type::ARRAY:
        for (simdjson::dom::element item : from.get_array()) out.items.push_back(copy(item));
        break;
      case simdjson::dom::element_type::OBJECT:
        for (auto [name, value] : from.get_object()) out.members[std::string(name)] = copy(value);
        if (!restore_integer(out)) understood = false;
        break;
      case simdjson::dom::element_type::STRING: out.scalar = std::string(from.get_string().value()); break;
      case simdjson::dom::element_type::BOOL: out.scalar = from.get_bool().value(); break;
      case simdjson::dom::element_type::INT64: out.scalar = from.get_int64().value(); break;
      default: break;
    }
    return &out;
  }
  void collect_relations(const Element& from, std::set<std::string>& out) const {
    for (const Element* item : from.items) collect_relations(*item, out);
    for (const auto& [name, member] : from.members) {
      if (name == "RangeVar") out.insert(Tree(member)["relname"].text());
      collect_relations(*member, out);
    }
  }
};

Tree Tree::operator[](std::string_view name) const {
  if (element_ == nullptr) return {};
  const auto& members = as_element(element_)->members;
  const auto found = members.find(name);
  return found == members.end() ? Tree() : Tree(found->second);
}

std::vector<Tree> Tree::items() const {
  std::vector<Tree> out;
  if (element_ == nullptr) return out;
  for (const Element* item : as_element(element_)->items) out.emplace_back(item);
  return out;
}

std::string Tree::kind() const {
  if (element_ == nullptr || as_element(element_)->members.size() != 1) return {};
  return as_element(element_)->members.begin()->first;
}

Tree Tree::body() const {
  return (*this)[kind()];
}

std::string Tree::text() const {
  if (element_ == nullptr) return {};
  const auto* text = std::get_if<std::string>(&as_element(element_)->scalar);
  return text ? *text : std::string();
}

int64_t Tree::integer() const {
  if (element_ == nullptr) return 0;
  const auto* integer = std::get_if<int64_t>(&as_element(element_)->scalar);
  return integer ? *integer : 0;
}

bool Tree::truth() const {
  if (element_ == nullptr) return false;
  const auto* truth = std::get_if<bool>(&as_element(element_)->scalar);
  return truth != nullptr && *truth;
}

ParsedQuery::ParsedQuery() : document_(std::make_unique<Document>()) {}
ParsedQuery::ParsedQuery(ParsedQuery&&) noexcept = default;
ParsedQuery::~ParsedQuery() = default;

Result<ParsedQuery> ParsedQuery::parse(const std::string& sql) {
  PgQueryParseResult result = pg_query_parse(sql.c_str());
  const std::string problem = result.error ? result.error->message : "";
  const std::string json = result.error ? "" : result.parse_tree;
  pg_query_free_parse_result(result);
  if (!problem.empty()) return Error{problem};
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(json).get(root) != simdjson::SUCCESS) return Error{"the parser's tree can't be read"};
  ParsedQuery out;
  out.document_->sql = sql;
  const std::vector<Tree> statements = Tree(out.document_->copy(root))["stmts"].items();
  if (!out.document_->understood) return Error{"a number in it can't be told from its tree"};
  if (statements.size() != 1) return Error{"not one statement"};
  out.select_ = statements[0]["stmt"]["SelectStmt"];
  if (!out.select_) return Error{"not a query"};
  return out;
}

std::set<std::string> ParsedQuery::relations() const {
  std::set<std::string> out;
  document_->collect_relations(document_->elements.front(), out);
  return out;
}

}  // namespace tidemark::verify
