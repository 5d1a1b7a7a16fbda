#include "cli/report.h"

#include <algorithm>
#include <cstdio>

namespace tidemark {
namespace {

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      json += escape;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::vector<size_t> widths(const ReportTable& table) {
  std::vector<size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(std::max<size_t>(column.size(), 3));
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].text().size());
  }
  return widths;
}

// Columns of numbers are aligned to the right.
bool is_right(const ReportTable& table, size_t column) {
  return !table.rows.empty() && std::none_of(table.rows.begin(), table.rows.end(),
                                             [&](const auto& row) { return row[column].is_text(); });
}

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string space(width - text.size(), ' ');
  return " " + (right ? space + text : text + space) + " |";
}

std::string table_text(const ReportTable& table) {
  const std::vector<size_t> width = widths(table);
  std::string head = "|", rule = "|", body;
  for (size_t i = 0; i < width.size(); ++i) {
    head += padded(table.columns[i], width[i], is_right(table, i));
    rule += std::string(width[i] + 1, '-') + (is_right(table, i) ? ":|" : "-|");
  }
  for (const auto& row : table.rows) {
    body += "|";
    for (size_t i = 0; i < row.size(); ++i) body += padded(row[i].text(), width[i], is_right(table, i));
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string row_json(const ReportTable& table, const std::vector<Cell>& row) {
  std::string json;
  for (size_t i = 0; i < row.size(); ++i) {
    json += (i == 0 ? "{" : ", ") + quoted(table.columns[i]) + ": " + row[i].json();
  }
  return json + "}";
}

}  // namespace

Cell Cell::number(uint64_t value) {
  return Cell(Kind::Number, std::to_string(value));
}

Cell Cell::number(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return Cell(Kind::Number, text);
}

std::string Cell::json() const {
  switch (kind_) {
    case Kind::Text: return quoted(text_);
    case Kind::Number: return text_;
    case Kind::Missing: return "null";
  }
  return "null";
}

std::string as_text(const Report& report) {
  std::string text;
  for (const auto& [name, value] : report.fields) text += name + ": " + value.text() + "\n";
  for (const ReportTable& table : report.tables) {
    if (!text.empty()) text += "\n";
    text += table_text(table);
  }
  return text;
}

std::string as_json(const Report& report) {
  std::string json = "{";
  for (const auto& [name, value] : report.fields) {
    json += (json.size() > 1 ? ",\n " : "") + quoted(name) + ": " + value.json();
  }
  for (const ReportTable& table : report.tables) {
    json += (json.size() > 1 ? ",\n " : "") + quoted(table.name) + ": [";
    for (size_t i = 0; i < table.rows.size(); ++i) {
      json += (i == 0 ? "\n  " : ",\n  ") + row_json(table, table.rows[i]);
    }
    json += "]";
  }
  return json + "}\n";
}

}  // namespace tidemark
