#include "cli/report.h"

#include <gmock/gmock.h>

#include "cli/svg.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

Report example() {
  Report report;
  report.fields = {{"title", "a \"b\"\n"}, {"count", Cell::number(uint64_t{7})}};
  report.tables = {{"rows", {"name", "share"}, {{"x", Cell::number(0.5, 2)}, {"longer", Cell::missing()}}}};
  return report;
}

TEST(Report, TextIsLinesAndAlignedMarkdown) {
  Report report = example();
  report.fields.erase(report.fields.begin());
  EXPECT_EQ(as_text(report),
            "count: 7\n"
            "\n"
            "| name   | share |\n"
            "|--------|------:|\n"
            "| x      |  0.50 |\n"
            "| longer |     - |\n");
}

TEST(Report, JsonEscapesTextAndKeepsNumbersAndMissingValues) {
  EXPECT_EQ(as_json(example()),
            "{\"title\": \"a \\\"b\\\"\\u000a\",\n"
            " \"count\": 7,\n"
            " \"rows\": [\n"
            "  {\"name\": \"x\", \"share\": 0.50},\n"
            "  {\"name\": \"longer\", \"share\": null}]}\n");
}

TEST(Report, NothingIsAnEmptyObject) {
  EXPECT_EQ(as_json({}), "{}\n");
}

TEST(Svg, NamesOfUsersAreEscaped) {
  const std::string svg = svg_of_rings("<title>", {{{0, 1, 0}}}, {"a&b"});
  EXPECT_THAT(svg, HasSubstr("&lt;title&gt;"));
  EXPECT_THAT(svg, HasSubstr("a&amp;b"));
}

TEST(Svg, EveryArcAndEveryLineIsDrawn) {
  const std::string rings = svg_of_rings("", {{{0, 0.5, 0}, {0.5, 1, 1}}, {{0, 1, 0}}}, {"a", "b"});
  size_t arcs = 0;
  for (size_t at = rings.find("<path"); at != std::string::npos; at = rings.find("<path", at + 1)) ++arcs;
  EXPECT_EQ(arcs, 3u);
  const std::string panels = svg_of_panels("", "round", {{"p", "y", {{"one", {1, 2}}, {"none", {}}}}});
  EXPECT_THAT(panels, HasSubstr("<polyline"));
  EXPECT_THAT(panels, ::testing::Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace tidemark
