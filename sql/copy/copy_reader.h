// The rows of COPY ... FROM STDIN: PostgreSQL's text format and CSV, as they come in pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/statement.h"
#include "sql/execute/row_source.h"
#include "sql/parse/try.h"

namespace tidemark::sql {

// Not thread-safe. After an error it must not be used again.
class CopyReader {
 public:
  // One value per column of the statement. `statement` must outlive it.
  explicit CopyReader(const CopyStatement& statement);

  // Reads as many whole rows as `data` completes and adds them to `out`, which the caller resets to width().
  SqlStatus feed(std::string_view data, Batch& out);
  // The last row may lack its end of line.
  SqlStatus finish(Batch& out);

  size_t width() const { return statement_.columns.size(); }

 private:
  // A row as long as this is refused: it could not be stored.
  static constexpr size_t kRowBytesMax = 4 << 20;

  SqlStatus take_rows(bool at_end, Batch& out);
  // The end of the row that begins at `begin`, or npos if more data is needed.
  size_t find_row_end(size_t begin) const;
  SqlStatus take_row(std::string_view line, Batch& out);
  SqlStatus split_text(std::string_view line);
  SqlStatus split_csv(std::string_view line);
  SqlError malformed(std::string message) const;

  struct Field {
    std::string text;
    bool is_null = false;
  };

  const CopyStatement& statement_;
  const CopyOptions& options_;
  std::string pending_;
  std::vector<Field> fields_;
  size_t field_count_ = 0;
  int64_t line_ = 0;
  bool header_left_;
  bool ended_ = false;  // \. was seen.
};

}  // namespace tidemark::sql
