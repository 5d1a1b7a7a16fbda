#include "sql/types/row_encoding.h"

#include <cstring>

#include "sql/types/datetime.h"

namespace tidemark::sql {
namespace {

constexpr Fault kCorruptRow{sqlstate::kDataCorrupted, "malformed row"};
constexpr uint16_t kScaleMask = 0x3fff;
constexpr uint16_t kNegativeBit = 0x4000;
constexpr uint16_t kSpecialBits = 0xc000;
constexpr size_t kNumericHeaderBytes = 2;

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

int width_of(TypeKind kind) {
  switch (kind) {
    case TypeKind::Boolean: return 1;
    case TypeKind::SmallInt: return 2;
    case TypeKind::Integer:
    case TypeKind::Date: return 4;
    case TypeKind::BigInt:
    case TypeKind::Double:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return 8;
    case TypeKind::Uuid: return 16;
    case TypeKind::Numeric:
    case TypeKind::Text:
    case TypeKind::Bytea:
    case TypeKind::Jsonb: return 0;
    case TypeKind::Null:
    case TypeKind::Interval:
    case TypeKind::Unknown: break;
  }
  TM_UNREACHABLE();
}

template <typename T>
T load(const char* at) {
  T out;
  std::memcpy(&out, at, sizeof(T));
  return out;
}

template <typename T>
void store(char* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

// Scale and sign in two bytes, then the coefficient without leading zeros.
void append_numeric(const Numeric& number, std::string& out) {
  uint16_t header = number.scale();
  switch (number.form()) {
    case Numeric::Form::NaN: header = kSpecialBits; break;
    case Numeric::Form::PlusInfinity: header = kSpecialBits | 1; break;
    case Numeric::Form::MinusInfinity: header = kSpecialBits | 2; break;
    default: header |= number.sign() < 0 ? kNegativeBit : 0;
  }
  out.append(reinterpret_cast<const char*>(&header), sizeof(header));
  if (number.is_big()) {
    out.append(number.magnitude());
  } else if (number.is_small()) {
    const int128_t coefficient = number.coefficient();
    auto magnitude = static_cast<uint128_t>(coefficient < 0 ? -coefficient : coefficient);
    for (; magnitude != 0; magnitude >>= 8) out.push_back(static_cast<char>(magnitude));
  }
}

bool is_numeric(std::string_view bytes) {
  if (bytes.size() < kNumericHeaderBytes) return false;
  const auto header = load<uint16_t>(bytes.data());
  const bool empty = bytes.size() == kNumericHeaderBytes;
  if ((header & kSpecialBits) == kSpecialBits) return empty && (header & kScaleMask) <= 2;
  if ((header & kSpecialBits) == 0x8000) return false;
  if (empty) return (header & kNegativeBit) == 0;
  return bytes.back() != 0;
}

Value read_numeric(std::string_view bytes) {
  const auto header = load<uint16_t>(bytes.data());
  const std::string_view magnitude = bytes.substr(kNumericHeaderBytes);
  if ((header & kSpecialBits) == kSpecialBits) {
    const int code = header & kScaleMask;
    return Value::numeric(code == 0 ? Numeric::nan() : Numeric::infinity(code == 2));
  }
  const bool negative = (header & kNegativeBit) != 0;
  const auto scale = static_cast<uint16_t>(header & kScaleMask);
  const bool fits =
      magnitude.size() < 16 || (magnitude.size() == 16 && static_cast<int8_t>(magnitude[15]) >= 0);
  if (!fits) return Value::numeric(Numeric::big(magnitude, negative, scale));
  int128_t coefficient = 0;
  std::memcpy(&coefficient, magnitude.data(), magnitude.size());
  return Value::numeric(Numeric::small(negative ? -coefficient : coefficient, scale));
}

bool is_fixed(TypeKind kind, const char* at) {
  switch (kind) {
    case TypeKind::Boolean: return static_cast<uint8_t>(*at) <= 1;
    case TypeKind::Date: return is_valid_datetime(kind, load<int32_t>(at));
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return is_valid_datetime(kind, load<int64_t>(at));
    default: return true;
  }
}

void store_fixed(const Value& value, char* at) {
  switch (value.kind()) {
    case TypeKind::Boolean: store<uint8_t>(at, value.as_bool() ? 1 : 0); return;
    case TypeKind::SmallInt: store(at, static_cast<int16_t>(value.as_int())); return;
    case TypeKind::Integer:
    case TypeKind::Date: store(at, static_cast<int32_t>(value.as_int())); return;
    case TypeKind::BigInt:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: store(at, value.as_int()); return;
    case TypeKind::Double: store(at, value.as_double()); return;
    case TypeKind::Uuid: store(at, value.as_uuid()); return;
    default: break;
  }
  TM_UNREACHABLE();
}

}  // namespace

RowLayout::RowLayout(std::span<const TypeKind> columns) {
  TM_ASSERT(columns.size() <= kRowColumnsMax);
  uint32_t offset = 0;
  int32_t previous = -1;
  slots_.reserve(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const int width = width_of(columns[i]);
    const bool is_variable = width == 0;
    const auto stored = static_cast<uint8_t>(is_variable ? sizeof(uint32_t) : width);
    slots_.push_back({columns[i], stored, is_variable, offset, previous});
    offset += stored;
    if (is_variable) previous = static_cast<int32_t>(i);
  }
}

void append_row(const RowLayout& layout, std::span<const Value> values, std::string& out) {
  const size_t count = layout.column_count();
  TM_ASSERT(values.size() == count);
  const size_t start = out.size();
  const size_t fixed_at = RowView::kHeaderBytes + (count + 7) / 8;
  const size_t fixed = count == 0 ? 0 : layout.slots_[count - 1].offset + layout.slots_[count - 1].width;
  out.append(fixed_at + fixed, '\0');
  out[start] = kRowVersion;
  store(out.data() + start + 1, static_cast<uint16_t>(count));
  const size_t variable_at = out.size();
  for (size_t i = 0; i < count; ++i) {
    const RowLayout::Slot& slot = layout.slots_[i];
    const Value& value = values[i];
    if (value.is_null()) {
      char& bits = out[start + RowView::kHeaderBytes + i / 8];
      bits = static_cast<char>(static_cast<uint8_t>(bits) | (1u << (i % 8)));
    } else {
      TM_ASSERT(value.kind() == slot.kind);
    }
    if (!slot.is_variable) {
      if (!value.is_null()) store_fixed(value, out.data() + start + fixed_at + slot.offset);
      continue;
    }
    if (!value.is_null()) {
      if (slot.kind == TypeKind::Numeric) {
        append_numeric(value.as_numeric(), out);
      } else {
        out.append(value.as_bytes());
      }
    }
    store(out.data() + start + fixed_at + slot.offset, static_cast<uint32_t>(out.size() - variable_at));
  }
}

Fault RowView::parse(const RowLayout& layout, std::string_view bytes, RowView& out) {
  if (bytes.size() < kHeaderBytes || bytes[0] != kRowVersion) return kCorruptRow;
  RowView view;
  view.layout_ = &layout;
  view.bytes_ = bytes;
  view.columns_ = load<uint16_t>(bytes.data() + 1);
  if (view.columns_ > layout.column_count()) return kCorruptRow;
  view.fixed_at_ = kHeaderBytes + (view.columns_ + 7) / 8;
  view.variable_at_ = view.fixed_at_;
  if (view.columns_ > 0) {
    const RowLayout::Slot& last = layout.slots_[view.columns_ - 1];
    view.variable_at_ += last.offset + last.width;
  }
  if (bytes.size() < view.variable_at_ || !view.check()) return kCorruptRow;
  out = view;
  return kOk;
}

bool RowView::check() const {
  const size_t variable_size = bytes_.size() - variable_at_;
  uint32_t end = 0;
  for (size_t i = 0; i < columns_; ++i) {
    const RowLayout::Slot& slot = layout_->slots_[i];
    if (!slot.is_variable) {
      if (!is_fixed(slot.kind, bytes_.data() + fixed_at_ + slot.offset)) return false;
      continue;
    }
    const auto next = load<uint32_t>(bytes_.data() + fixed_at_ + slot.offset);
    if (next < end || next > variable_size) return false;
    const std::string_view part = bytes_.substr(variable_at_ + end, next - end);
    end = next;
    if (is_null(i)) {
      if (!part.empty()) return false;
    } else if (slot.kind == TypeKind::Numeric) {
      if (!is_numeric(part)) return false;
    }
  }
  return end == variable_size;
}

uint32_t RowView::end_of(int32_t column) const {
  return column < 0 ? 0 : load<uint32_t>(bytes_.data() + fixed_at_ + layout_->slots_[column].offset);
}

std::string_view RowView::variable(size_t column) const {
  const uint32_t start = end_of(layout_->slots_[column].previous);
  return bytes_.substr(variable_at_ + start, end_of(static_cast<int32_t>(column)) - start);
}

Value RowView::get(size_t column) const {
  TM_ASSERT(column < layout_->column_count());
  if (is_null(column)) return Value::null();
  const RowLayout::Slot& slot = layout_->slots_[column];
  const char* at = bytes_.data() + fixed_at_ + slot.offset;
  switch (slot.kind) {
    case TypeKind::Boolean: return Value::boolean(*at != 0);
    case TypeKind::SmallInt: return Value::smallint(load<int16_t>(at));
    case TypeKind::Integer:
    case TypeKind::Date: return Value::of_int(slot.kind, load<int32_t>(at));
    case TypeKind::BigInt:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return Value::of_int(slot.kind, load<int64_t>(at));
    case TypeKind::Double: return Value::float8(load<double>(at));
    case TypeKind::Uuid: return Value::uuid(load<Uuid>(at));
    case TypeKind::Numeric: return read_numeric(variable(column));
    case TypeKind::Text:
    case TypeKind::Bytea:
    case TypeKind::Jsonb: return Value::of_bytes(slot.kind, variable(column));
    case TypeKind::Null:
    case TypeKind::Interval:
    case TypeKind::Unknown: break;
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark::sql
