#include "base/process/units.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

namespace tidemark {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

// Greatest first. Among sizes the powers of 1000 go first: they read better, if both are whole.
constexpr Unit kTimes[] = {
    {"h", 3'600'000'000}, {"min", 60'000'000}, {"s", 1'000'000}, {"ms", 1000}, {"us", 1}};
constexpr Unit kSizes[] = {{"GB", 1'000'000'000}, {"GiB", 1ULL << 30}, {"MB", 1'000'000}, {"MiB", 1ULL << 20},
                           {"kB", 1000},          {"KiB", 1ULL << 10}, {"B", 1}};

constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

Result<uint64_t> parse_with_unit(std::string_view text, std::span<const Unit> units,
                                 const std::string& expected) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == text.substr(digits); });
  if (digits == 0 || unit == units.end()) return Error{"'" + std::string(text) + "' is not " + expected};
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + digits, number);
  if (parsed.ec != std::errc() || number > kMax / unit->factor) {
    return Error{"'" + std::string(text) + "' is out of range"};
  }
  return number * unit->factor;
}

// In the greatest unit that leaves a whole number.
std::string show_with_unit(uint64_t value, std::span<const Unit> units) {
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [&](const Unit& u) { return value != 0 && value % u.factor == 0; });
  if (unit == units.end()) return "0" + std::string(units.back().name);
  return std::to_string(value / unit->factor) + std::string(unit->name);
}

}  // namespace

Result<Micros> parse_duration(std::string_view text) {
  const auto micros = parse_with_unit(text, kTimes, "a span of time such as 250ms (us, ms, s, min, h)");
  if (!micros) return micros.error();
  return Micros{static_cast<int64_t>(*micros)};
}

std::string show_duration(Micros duration) {
  TM_ASSERT(duration.value >= 0, duration);
  return show_with_unit(static_cast<uint64_t>(duration.value), kTimes);
}

Result<ByteSize> parse_size(std::string_view text) {
  std::string with_unit(text);
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) with_unit += "B";
  const auto bytes = parse_with_unit(with_unit, kSizes, "a size such as 64MB (B, kB, MB, GB, KiB, MiB, GiB)");
  if (!bytes) return bytes.error();
  return ByteSize{*bytes};
}

std::string show_size(ByteSize size) {
  return show_with_unit(size.value, kSizes);
}

}  // namespace tidemark
