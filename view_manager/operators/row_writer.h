// Encodes the rows of a VIEW or AUXILIARY table: the key's columns into the key, the others into the row. Its
// memory is reused.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql/table/table_codec.h"
#include "sql/types/value.h"

namespace tidemark {

class RowWriter {
 public:
  explicit RowWriter(const sql::TableCodec& codec) : codec_(&codec) {}

  // REQUIRES: one value per column of the table.
  void encode(std::span<const sql::Value> values, sql::EncodedRow& out) {
    key_.clear();
    for (size_t column : codec_->key_columns()) key_.push_back(values[column]);
    out.key.clear();
    out.hash = codec_->encode_key_prefix(key_, out.key);
    stored_.clear();
    for (size_t column : codec_->stored_columns()) stored_.push_back(values[column]);
    out.row.clear();
    sql::append_row(codec_->layout(), stored_, out.row);
  }
  TableId table() const { return codec_->table(); }

 private:
  const sql::TableCodec* codec_;
  std::vector<sql::Value> key_, stored_;
};

}  // namespace tidemark
