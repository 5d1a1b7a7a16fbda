// What a command has to say: fields and tables, printed for people or as JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

// A value as it is printed. Numbers keep the digits that were asked for, in both forms.
class Cell {
 public:
  Cell(std::string text) : text_(std::move(text)), kind_(Kind::Text) {}
  Cell(const char* text) : Cell(std::string(text)) {}
  static Cell number(uint64_t value);
  static Cell number(double value, int decimals);
  static Cell missing() { return Cell(Kind::Missing, "-"); }

  const std::string& text() const { return text_; }
  bool is_text() const { return kind_ == Kind::Text; }
  std::string json() const;

 private:
  enum class Kind : uint8_t { Text, Number, Missing };
  Cell(Kind kind, std::string text) : text_(std::move(text)), kind_(kind) {}

  std::string text_;
  Kind kind_;
};

struct ReportTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows = {};
};

struct Report {
  std::vector<std::pair<std::string, Cell>> fields = {};
  std::vector<ReportTable> tables = {};
};

// Fields as lines, tables as Markdown: docs take them as they are.
std::string as_text(const Report& report);
// One object: a member per field, and per table an array of objects.
std::string as_json(const Report& report);

}  // namespace tidemark
