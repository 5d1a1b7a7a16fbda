#include "sql/table/table_codec.h"

#include <algorithm>
#include <charconv>

#include "proto/catalog.pb.h"

namespace tidemark::sql {

namespace {

// The integers between the parentheses of "numeric(10,2)"; empty if there are none.
Result<std::vector<int>> modifiers_of(std::string_view name, size_t open, size_t close) {
  std::vector<int> out;
  std::string_view inside = name.substr(open + 1, close - open - 1);
  while (!inside.empty()) {
    std::string_view one = inside.substr(0, inside.find(','));
    int value = 0;
    auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (error != std::errc() || end != one.data() + one.size())
      return Error{"unknown type " + std::string(name)};
    out.push_back(value);
    inside.remove_prefix(std::min(inside.size(), one.size() + 1));
  }
  return out;
}

}  // namespace

Result<SqlType> parse_type_name(std::string_view name) {
  size_t open = name.find('(');
  size_t close = name.find(')');
  std::string plain(name);
  std::vector<int> modifiers;
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    auto found = modifiers_of(name, open, close);
    if (!found.ok()) return found.error();
    modifiers = std::move(found).value();
    plain = std::string(name.substr(0, open)) + std::string(name.substr(close + 1));
  }
  SqlType type;
  if (plain == "character varying" && modifiers.size() == 1) return SqlType{TypeKind::Text, modifiers[0]};
  if (plain == "timestamp without time zone") type.kind = TypeKind::Timestamp;
  if (plain == "timestamp with time zone") type.kind = TypeKind::TimestampTz;
  for (int kind = 1; kind < static_cast<int>(TypeKind::Unknown); ++kind) {
    if (type_name(static_cast<TypeKind>(kind)) == plain) type.kind = static_cast<TypeKind>(kind);
  }
  if (type.kind == TypeKind::Null) return Error{"unknown type " + std::string(name)};
  if (type.kind == TypeKind::Numeric && modifiers.size() == 2)
    return SqlType::numeric(modifiers[0], modifiers[1]);
  if (modifiers.size() == 1) type.modifier = modifiers[0];
  return type;
}

Result<TableCodec> TableCodec::make(const pb::TableDefinition& definition) {
  TableCodec codec;
  codec.table_ = TableId{definition.id()};
  for (const pb::Column& column : definition.columns()) {
    auto type = parse_type_name(column.type());
    if (!type.ok()) return type.error();
    codec.columns_.push_back({column.name(), *type, column.not_null(), column.hidden()});
  }
  auto add_key = [&](uint32_t column, SortOrder order) {
    codec.key_columns_.push_back(column);
    if (column >= codec.columns_.size()) return;
    const SqlType& type = codec.columns_[column].type;
    const bool has_scale = type.kind == TypeKind::Numeric && type.has_modifier();
    codec.key_kinds_.push_back({type.kind, order, has_scale ? type.numeric_scale() : 0});
  };
  for (uint32_t column : definition.distribution()) add_key(column, SortOrder::Ascending);
  codec.distribution_count_ = codec.key_columns_.size();
  for (int i = 0; i < definition.clustering_size(); ++i) {
    bool descending = i < definition.clustering_descending_size() && definition.clustering_descending(i);
    add_key(definition.clustering(i), descending ? SortOrder::Descending : SortOrder::Ascending);
  }
  if (codec.key_kinds_.size() != codec.key_columns_.size()) {
    return Error{"table " + definition.name() + ": a key column that is not there"};
  }
  codec.row_holds_key_ = definition.kind() == pb::MANAGED || definition.kind() == pb::EXTERNAL;
  std::vector<TypeKind> kinds;
  for (size_t i = 0; i < codec.columns_.size(); ++i) {
    bool in_key =
        std::find(codec.key_columns_.begin(), codec.key_columns_.end(), i) != codec.key_columns_.end();
    if (in_key && !codec.row_holds_key_) continue;
    codec.stored_columns_.push_back(i);
    kinds.push_back(codec.columns_[i].type.kind);
  }
  if (kinds.size() > kRowColumnsMax) return Error{"table " + definition.name() + ": too many columns"};
  codec.layout_ = RowLayout(kinds);
  return codec;
}

void TableCodec::encode(std::span<const Value> values, EncodedRow& out) const {
  out.key.clear();
  out.row.clear();
  out.hash = distribution_hash({});
  for (size_t i = 0; i < key_columns_.size(); ++i) {
    append_key(values[key_columns_[i]], key_kinds_[i].order, out.key);
    if (i + 1 == distribution_count_) out.hash = distribution_hash(out.key);
  }
  append_stored(values, out.row);
}

void TableCodec::append_stored(std::span<const Value> values, std::string& row) const {
  if (row_holds_key_) return append_row(layout_, values, row);
  std::vector<Value> stored;
  stored.reserve(stored_columns_.size());
  for (size_t column : stored_columns_) stored.push_back(values[column]);
  append_row(layout_, stored, row);
}

uint64_t TableCodec::encode_key_prefix(std::span<const Value> values, std::string& key) const {
  uint64_t hash = distribution_count_ == 0 ? distribution_hash({}) : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    append_key(values[i], key_kinds_[i].order, key);
    if (i + 1 == distribution_count_) hash = distribution_hash(key);
  }
  return hash;
}

Fault TableCodec::decode(std::string_view key, std::string_view row, Arena& arena,
                         std::vector<Value>& out) const {
  out.assign(columns_.size(), Value());
  RowView view;
  TM_SQL_TRY(RowView::parse(layout_, row, view));
  for (size_t i = 0; i < stored_columns_.size(); ++i) out[stored_columns_[i]] = view.get(i);
  if (row_holds_key_) return kOk;
  size_t at = 0;
  for (size_t i = 0; i < key_columns_.size(); ++i) {
    TM_SQL_TRY(read_key(key_kinds_[i], key, at, arena, out[key_columns_[i]]));
  }
  if (at != key.size()) return Fault{sqlstate::kDataCorrupted, "a key longer than its table's"};
  return kOk;
}

}  // namespace tidemark::sql
