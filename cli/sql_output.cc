#include "cli/sql_output.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace tidemark {

namespace {

constexpr Oid kBool = 16, kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat8 = 701, kNumeric = 1700, kJsonb = 3802;

bool is_number(Oid type) {
  return type == kInt2 || type == kInt4 || type == kInt8 || type == kFloat8 || type == kNumeric;
}

std::string json_value(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column)) return "null";
  std::string_view text(PQgetvalue(result, row, column),
                        static_cast<size_t>(PQgetlength(result, row, column)));
  Oid type = PQftype(result, column);
  if (type == kBool) return text == "t" ? "true" : "false";
  if (type == kJsonb) return std::string(text);
  bool plain = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  return is_number(type) && plain ? std::string(text) : json_string(text);
}

// Characters, not bytes, so that columns line up for most texts.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void append_padded(std::string& out, std::string_view text, size_t width, bool to_the_right) {
  std::string padding(width - std::min(width, width_of(text)), ' ');
  out += to_the_right ? padding + std::string(text) : std::string(text) + padding;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char code[8];
          std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
          out += code;
        } else {
          out.push_back(c);
        }
    }
  }
  return out + "\"";
}

std::string rows_as_json(const PGresult* result) {
  std::string out;
  for (int row = 0; row < PQntuples(result); ++row) {
    out += "{";
    for (int column = 0; column < PQnfields(result); ++column) {
      if (column > 0) out += ", ";
      out += json_string(PQfname(result, column)) + ": " + json_value(result, row, column);
    }
    out += "}\n";
  }
  return out;
}

std::string rows_as_table(const PGresult* result) {
  int columns = PQnfields(result), rows = PQntuples(result);
  std::vector<size_t> widths;
  for (int column = 0; column < columns; ++column) {
    size_t width = width_of(PQfname(result, column));
    for (int row = 0; row < rows; ++row) width = std::max(width, width_of(PQgetvalue(result, row, column)));
    widths.push_back(width);
  }
  std::string out;
  auto line = [&](auto text_of, bool align) {
    for (int column = 0; column < columns; ++column) {
      out += column > 0 ? " | " : " ";
      append_padded(out, text_of(column), widths[static_cast<size_t>(column)],
                    align && is_number(PQftype(result, column)));
    }
    while (out.ends_with(' ')) out.pop_back();
    out += "\n";
  };
  line([&](int column) { return std::string_view(PQfname(result, column)); }, false);
  for (int column = 0; column < columns; ++column) {
    out += column > 0 ? "-+-" : "-";
    out.append(widths[static_cast<size_t>(column)], '-');
  }
  out += columns > 0 ? "-\n" : "";
  for (int row = 0; row < rows; ++row) {
    line([&](int column) { return std::string_view(PQgetvalue(result, row, column)); }, true);
  }
  return out + "(" + std::to_string(rows) + (rows == 1 ? " row)\n" : " rows)\n");
}

}  // namespace tidemark
