#include "verify/json_text.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdio>

#include "base/assert.h"
#include "verify/decimal.h"

namespace tidemark::verify {

namespace {

void print_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
          out += buffer;
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

bool name_less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// simdjson's on-demand reader: it leaves numbers as they were written, of any length.
std::optional<Json> read(simdjson::ondemand::value value);

std::optional<Json> read_number(std::string_view token) {
  const auto number = Decimal::parse(token);
  if (!number) return {};
  return Json{Json::Kind::Number, number->text(), {}, {}};
}

std::optional<Json> read_array(simdjson::ondemand::array array) {
  Json out{Json::Kind::Array, {}, {}, {}};
  for (auto element : array) {
    simdjson::ondemand::value inner;
    if (element.get(inner) != simdjson::SUCCESS) return {};
    auto item = read(inner);
    if (!item) return {};
    out.items.push_back(std::move(*item));
  }
  return out;
}

std::optional<Json> read_object(simdjson::ondemand::object object) {
  Json out{Json::Kind::Object, {}, {}, {}};
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return {};
    std::string own(name);
    simdjson::ondemand::value inner;
    if (field.value().get(inner) != simdjson::SUCCESS) return {};
    auto member = read(inner);
    if (!member) return {};
    const auto same = [&](const auto& known) { return known.first == own; };
    const auto found = std::find_if(out.members.begin(), out.members.end(), same);
    if (found != out.members.end()) {
      found->second = std::move(*member);  // The last of a name counts.
    } else {
      out.members.emplace_back(std::move(own), std::move(*member));
    }
  }
  std::sort(out.members.begin(), out.members.end(),
            [](const auto& a, const auto& b) { return name_less(a.first, b.first); });
  return out;
}

std::optional<Json> read_string(simdjson::ondemand::value value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS || text.find('\0') != std::string_view::npos)
    return {};
  return Json{Json::Kind::String, std::string(text), {}, {}};
}

std::optional<Json> read_word(std::string_view token) {
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.remove_suffix(1);
  if (token == "null") return Json{};
  if (token == "true") return Json{Json::Kind::True, {}, {}, {}};
  if (token == "false") return Json{Json::Kind::False, {}, {}, {}};
  return read_number(token);
}

std::optional<Json> read(simdjson::ondemand::value value) {
  simdjson::ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return {};
  switch (type) {
    case simdjson::ondemand::json_type::array: {
      simdjson::ondemand::array array;
      if (value.get_array().get(array) != simdjson::SUCCESS) return {};
      return read_array(array);
    }
    case simdjson::ondemand::json_type::object: {
      simdjson::ondemand::object object;
      if (value.get_object().get(object) != simdjson::SUCCESS) return {};
      return read_object(object);
    }
    case simdjson::ondemand::json_type::string: return read_string(value);
    default: return read_word(value.raw_json_token());
  }
}

}  // namespace

std::optional<Json> Json::parse(std::string_view text) {
  // A document may be a bare value, which the reader treats apart: as the one item of an array it is none.
  const std::string wrapped = "[" + std::string(text) + "]";
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(wrapped);
  simdjson::ondemand::document document;
  simdjson::ondemand::array array;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return {};
  if (document.get_array().get(array) != simdjson::SUCCESS) return {};
  auto out = read_array(array);
  if (!out || out->items.size() != 1) return {};
  return std::move(out->items[0]);
}

void Json::print_to(std::string& out, bool as_key) const {
  switch (kind) {
    case Kind::Null: out += "null"; return;
    case Kind::False: out += "false"; return;
    case Kind::True: out += "true"; return;
    case Kind::String: print_string(text, out); return;
    case Kind::Number: out += as_key ? Decimal::parse(text)->normalized().text() : text; return;
    case Kind::Array:
      out += '[';
      for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ", ";
        items[i].print_to(out, as_key);
      }
      out += ']';
      return;
    case Kind::Object:
      out += '{';
      for (size_t i = 0; i < members.size(); ++i) {
        if (i > 0) out += ", ";
        print_string(members[i].first, out);
        out += ": ";
        members[i].second.print_to(out, as_key);
      }
      out += '}';
      return;
  }
  TM_UNREACHABLE();
}

std::string Json::print() const {
  std::string out;
  print_to(out, false);
  return out;
}

std::string Json::key() const {
  std::string out;
  print_to(out, true);
  return out;
}

const Json* Json::member(std::string_view name) const {
  for (const auto& [known, value] : members) {
    if (known == name) return &value;
  }
  return nullptr;
}

const Json* Json::item(int64_t index) const {
  const int64_t size = static_cast<int64_t>(items.size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? &items[static_cast<size_t>(index)] : nullptr;
}

}  // namespace tidemark::verify
