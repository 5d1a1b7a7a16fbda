// Decimals against PostgreSQL's numeric: the same digits and the same scales.
#include "verify/decimal.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/verify/bed.h"

namespace tidemark::verify {
namespace {

using Random = std::mt19937_64;

uint64_t seed() {
  const char* given = std::getenv("VERIFY_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 20240229;
}

std::string random_number(Random& random) {
  auto digits = [&](size_t most) {
    std::string out;
    for (size_t i = random() % (most + 1); i > 0; --i)
      out += static_cast<char>('0' + (random() % 3 ? random() % 10 : 0));
    return out;
  };
  std::string out = random() % 3 == 0 ? "-" : "";
  out += "0" + digits(random() % 4 ? 6 : 30);
  if (random() % 3) out += "." + digits(random() % 4 ? 4 : 25) + "0";
  return out;
}

std::string text(const std::optional<Decimal>& number) {
  return number ? number->text() : "division by zero";
}

struct Computed {
  std::string sql;
  std::string ours;
};

// What we say of one pair, and how PostgreSQL is asked.
std::vector<Computed> computed(const std::string& a_text, const std::string& b_text, int scale) {
  const Decimal a = *Decimal::parse(a_text), b = *Decimal::parse(b_text);
  const std::string x = "'" + a_text + "'::numeric", y = "'" + b_text + "'::numeric",
                    n = std::to_string(scale);
  using R = Decimal::Rounding;
  std::vector<Computed> out = {
      {x, a.text()},
      {x + " + " + y, (a + b).text()},
      {x + " - " + y, (a - b).text()},
      {x + " * " + y, (a * b).text()},
      {"round(" + x + ", " + n + ")", a.rounded(scale, R::HalfAway).text()},
      {"trunc(" + x + ", " + n + ")", a.rounded(scale, R::Truncate).text()},
      {"ceil(" + x + ")", a.rounded(0, R::Ceiling).text()},
      {"floor(" + x + ")", a.rounded(0, R::Floor).text()},
      {"(" + x + " < " + y + ")", a.key() < b.key() ? "t" : "f"},
      {"(" + x + " = " + y + ")", a.key() == b.key() ? "t" : "f"},
      {"trim_scale(" + x + ")", a.normalized().text()},
      {x + "::float8", double_text(a.to_double())},
      {x + "::float8::numeric", Decimal::from_double(a.to_double()).text()},
  };
  if (!b.is_zero()) {
    out.push_back({x + " / " + y, text(Decimal::divide(a, b))});
    out.push_back({x + " % " + y, text(Decimal::remainder(a, b))});
    out.push_back({"div(" + x + ", " + y + ")", text(Decimal::divide_to_integer(a, b))});
  }
  return out;
}

TEST(DecimalTest, ComputesAsPostgresDoes) {
  testing::Bed bed;
  Random random(seed());
  for (int round = 0; round < 300; ++round) {
    std::vector<Computed> all;
    std::string sql = "select ";
    for (int pair = 0; pair < 5; ++pair) {
      const std::string a = random_number(random), b = random() % 8 ? random_number(random) : a + ".0";
      const bool b_is_number = Decimal::parse(b).has_value();
      for (Computed& one : computed(a, b_is_number ? b : a, static_cast<int>(random() % 12) - 4))
        all.push_back(one);
    }
    for (size_t i = 0; i < all.size(); ++i) sql += (i > 0 ? ", " : "") + all[i].sql;
    const auto rows = bed.ask(sql);
    ASSERT_EQ(rows.size(), 1u);
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i].ours, rows[0][i]) << all[i].sql << "\nVERIFY_SEED=" << seed() << " replays it";
    }
  }
}

TEST(DecimalTest, KnowsInfinitiesAndNaN) {
  testing::Bed bed;
  for (const char* a : {"NaN", "Infinity", "-Infinity", "2.50", "0", "-1"}) {
    for (const char* b : {"NaN", "Infinity", "-Infinity", "3", "-0.5"}) {
      for (const Computed& one : computed(a, b, 2)) {
        if (one.sql.find("float8") != std::string::npos) continue;
        EXPECT_EQ(one.ours, bed.ask("select " + one.sql)[0][0]) << one.sql;
      }
    }
  }
}

TEST(DecimalTest, RefusesWhatIsNoNumber) {
  for (const char* text : {"", ".", "-", "1e", "1.2.3", "x", "1 2", "0x10", "1e400000"}) {
    EXPECT_FALSE(Decimal::parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tidemark::verify
