#include "sql/copy/copy_reader.h"

#include "sql/types/text_format.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

int hex_digit(char c) {
  c = to_lower(c);
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

// Appends what a backslash at `at` means, and moves past it.
void take_escape(std::string_view line, size_t& at, std::string& out) {
  ++at;
  if (at == line.size()) {
    out.push_back('\\');
    return;
  }
  const char c = line[at++];
  switch (c) {
    case 'b': out.push_back('\b'); return;
    case 'f': out.push_back('\f'); return;
    case 'n': out.push_back('\n'); return;
    case 'r': out.push_back('\r'); return;
    case 't': out.push_back('\t'); return;
    case 'v': out.push_back('\v'); return;
    case 'x': {
      int value = 0, digits = 0;
      for (; digits < 2 && at < line.size() && hex_digit(line[at]) >= 0; ++digits)
        value = value * 16 + hex_digit(line[at++]);
      out.push_back(digits > 0 ? static_cast<char>(value) : 'x');
      return;
    }
    default: break;
  }
  if (!is_octal(c)) {
    out.push_back(c);
    return;
  }
  int value = c - '0';
  for (int digits = 1; digits < 3 && at < line.size() && is_octal(line[at]); ++digits)
    value = value * 8 + (line[at++] - '0');
  out.push_back(static_cast<char>(value));
}

}  // namespace

CopyReader::CopyReader(const CopyStatement& statement)
    : statement_(statement),
      options_(statement.options),
      fields_(statement.columns.size()),
      header_left_(statement.options.header) {}

SqlError CopyReader::malformed(std::string message) const {
  return {sqlstate::kBadCopyFileFormat,
          std::move(message),
          0,
          "COPY " + statement_.table->name + ", line " + std::to_string(line_),
          {}};
}

size_t CopyReader::find_row_end(size_t begin) const {
  if (options_.format == CopyFormat::Text) {
    // A backslash before an end of line makes it part of the value.
    for (size_t at = begin; at < pending_.size(); ++at) {
      if (pending_[at] == '\n') return at;
      if (pending_[at] == '\\') ++at;
    }
    return std::string::npos;
  }
  bool quoted = false;
  for (size_t at = begin; at < pending_.size(); ++at) {
    const char c = pending_[at];
    if (quoted && c == options_.escape && options_.escape != options_.quote) {
      ++at;
    } else if (c == options_.quote) {
      quoted = !quoted;
    } else if (c == '\n' && !quoted) {
      return at;
    }
  }
  return std::string::npos;
}

SqlStatus CopyReader::feed(std::string_view data, Batch& out) {
  pending_ += data;
  return take_rows(false, out);
}

SqlStatus CopyReader::finish(Batch& out) {
  return take_rows(true, out);
}

SqlStatus CopyReader::take_rows(bool at_end, Batch& out) {
  size_t begin = 0;
  while (!ended_ && begin < pending_.size()) {
    size_t end = find_row_end(begin);
    const bool is_whole = end != std::string::npos;
    if (!is_whole && !at_end) break;
    if (!is_whole) end = pending_.size();
    std::string_view line = std::string_view(pending_).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = is_whole ? end + 1 : end;
    ++line_;
    if (line == "\\.") {
      ended_ = true;
    } else if (header_left_) {
      header_left_ = false;
    } else {
      TM_TRY(take_row(line, out));
    }
  }
  pending_.erase(0, begin);
  if (ended_) pending_.clear();
  if (pending_.size() > kRowBytesMax) return malformed("row is too long");
  return {};
}

SqlStatus CopyReader::take_row(std::string_view line, Batch& out) {
  field_count_ = 0;
  TM_TRY(options_.format == CopyFormat::Csv ? split_csv(line) : split_text(line));
  if (field_count_ < width()) {
    return malformed("missing data for column \"" +
                     statement_.table->columns[statement_.columns[field_count_]].name + "\"");
  }
  Value* row = out.add_row();
  for (size_t i = 0; i < width(); ++i) {
    if (fields_[i].is_null) continue;
    const SchemaColumn& column = statement_.table->columns[statement_.columns[i]];
    const Fault fault = value_from_text(column.type, fields_[i].text, out.arena, row[i]);
    if (fault.ok()) continue;
    SqlError error = input_error(fault, column.type, fields_[i].text);
    error.detail =
        "COPY " + statement_.table->name + ", line " + std::to_string(line_) + ", column " + column.name;
    return error;
  }
  return {};
}

SqlStatus CopyReader::split_text(std::string_view line) {
  for (size_t at = 0;;) {
    if (field_count_ == width()) return malformed("extra data after last expected column");
    Field& field = fields_[field_count_++];
    field.text.clear();
    const size_t begin = at;
    while (at < line.size() && line[at] != options_.delimiter) {
      if (line[at] == '\\') {
        take_escape(line, at, field.text);
      } else {
        field.text.push_back(line[at++]);
      }
    }
    field.is_null = line.substr(begin, at - begin) == options_.null_text;
    if (at == line.size()) return {};
    ++at;
  }
}

SqlStatus CopyReader::split_csv(std::string_view line) {
  for (size_t at = 0;;) {
    if (field_count_ == width()) return malformed("extra data after last expected column");
    Field& field = fields_[field_count_++];
    field.text.clear();
    bool was_quoted = false, quoted = false;
    for (; at < line.size() && (quoted || line[at] != options_.delimiter); ++at) {
      const char c = line[at];
      const char next = at + 1 < line.size() ? line[at + 1] : '\0';
      if (quoted && c == options_.escape && (next == options_.quote || next == options_.escape)) {
        field.text.push_back(next);
        ++at;
      } else if (c == options_.quote) {
        quoted = !quoted;
        was_quoted = true;
      } else {
        field.text.push_back(c);
      }
    }
    if (quoted) return malformed("unterminated CSV quoted field");
    field.is_null = !was_quoted && field.text == options_.null_text;
    if (at == line.size()) return {};
    ++at;
  }
}

}  // namespace tidemark::sql
