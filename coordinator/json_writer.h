// Writes JSON: what every admin command prints for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

//   JsonWriter json;
//   json.object([&] { json.field("name", "n1"); json.array("regions", [&] { json.value(1); }); });
class JsonWriter {
 public:
  template <typename Body>
  void object(Body body) {
    between('{', '}', body);
  }
  template <typename Body>
  void object(std::string_view key, Body body) {
    name(key);
    between('{', '}', body);
  }
  template <typename Body>
  void array(std::string_view key, Body body) {
    name(key);
    between('[', ']', body);
  }
  template <typename Value>
  void field(std::string_view key, const Value& it) {
    name(key);
    write(it);
  }
  template <typename Value>
  void value(const Value& it) {
    separate();
    write(it);
  }

  const std::string& text() const { return out_; }

 private:
  void separate() {
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') out_ += ',';
  }
  void name(std::string_view key) {
    separate();
    write(key);
    out_ += ':';
  }
  template <typename Body>
  void between(char open, char close, Body body) {
    separate();
    out_ += open;
    body();
    out_ += close;
  }
  void write(bool it) { out_ += it ? "true" : "false"; }
  void write(uint32_t it) { out_ += std::to_string(it); }
  void write(uint64_t it) { out_ += std::to_string(it); }
  void write(int64_t it) { out_ += std::to_string(it); }
  void write(const char* it) { write(std::string_view(it)); }
  void write(const std::string& it) { write(std::string_view(it)); }
  void write(std::string_view it) {
    static constexpr char kHex[] = "0123456789abcdef";
    out_ += '"';
    for (char c : it) {
      auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (byte < 0x20) {
        out_ += "\\u00";
        out_ += kHex[byte >> 4];
        out_ += kHex[byte & 15];
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  std::string out_;
};

}  // namespace tidemark
