#include "cli/verify_output.h"

#include "base/assert.h"
#include "cli/report.h"

namespace tidemark {

namespace {

using verify::Difference;
using verify::Verdict;
using verify::ViewReport;

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Agrees: return "agrees";
    case Verdict::Differs: return "differs";
    case Verdict::Moving: return "moving";
    case Verdict::Unchecked: return "unchecked";
  }
  TM_UNREACHABLE();
}

std::string rows(int64_t count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

std::string row_as_text(const ViewReport& view, const std::string& row) {
  std::string out;
  const auto fields = verify::decoded(row);
  for (size_t i = 0; i < fields.size(); ++i) {
    out += (i > 0 ? ", " : "") + view.columns[i] + " = " + (fields[i] ? Cell(*fields[i]).json() : "null");
  }
  return out;
}

std::string difference_as_text(const ViewReport& view, const Difference& difference) {
  const std::string what = difference.found == 0      ? "missing"
                           : difference.expected == 0 ? "too many"
                                                      : "expected " + std::to_string(difference.expected) +
                                                            ", found " + std::to_string(difference.found);
  const int64_t times = std::max(difference.found, difference.expected);
  const bool several = times > 1 && (difference.found == 0 || difference.expected == 0);
  return "  " + what + (several ? " (" + std::to_string(times) + " times)" : "") + ": " +
         row_as_text(view, difference.row) + "\n";
}

std::string view_as_text(const ViewReport& view) {
  std::string out = "view " + view.view + ": ";
  switch (view.verdict) {
    case Verdict::Agrees: return out + rows(view.rows) + (view.rows == 1 ? " agrees\n" : " agree\n");
    case Verdict::Unchecked: return out + "can't be checked: " + view.reason + "\n";
    case Verdict::Differs:
      out += rows(view.differing) + (view.differing == 1 ? " differs\n" : " differ\n");
      break;
    case Verdict::Moving:
      out += rows(view.moving) + " still in motion after " + std::to_string(view.rounds) + " rounds, " +
             std::to_string(view.differing) + " differing in each: " + view.reason + "\n";
  }
  for (const Difference& difference : view.differences) out += difference_as_text(view, difference);
  const int64_t more = view.differing - static_cast<int64_t>(view.differences.size());
  if (more > 0) out += "  and " + std::to_string(more) + " more\n";
  return out;
}

std::string field(const char* name, const std::string& json) {
  return Cell(name).json() + ": " + json;
}

std::string difference_as_json(const ViewReport& view, const Difference& difference) {
  std::string row;
  const auto fields = verify::decoded(difference.row);
  for (size_t i = 0; i < fields.size(); ++i) {
    row += (i > 0 ? ", " : "") + field(view.columns[i].c_str(), fields[i] ? Cell(*fields[i]).json() : "null");
  }
  return "{" + field("expected", std::to_string(difference.expected)) + ", " +
         field("found", std::to_string(difference.found)) + ", " + field("row", "{" + row + "}") + "}";
}

std::string view_as_json(const ViewReport& view) {
  std::string out = "{" + field("view", Cell(view.view).json()) + ", " +
                    field("verdict", Cell(verdict_name(view.verdict)).json()) + ", " +
                    field("reason", view.reason.empty() ? "null" : Cell(view.reason).json()) + ", " +
                    field("rounds", std::to_string(view.rounds)) + ", " +
                    field("rows", std::to_string(view.rows)) + ", " +
                    field("differing", std::to_string(view.differing)) + ", " +
                    field("moving", std::to_string(view.moving)) + ", " + field("differences", "[");
  for (size_t i = 0; i < view.differences.size(); ++i) {
    out += (i > 0 ? ", " : "") + difference_as_json(view, view.differences[i]);
  }
  return out + "]}";
}

}  // namespace

std::string verification_as_text(const verify::VerifyReport& report) {
  std::string out;
  size_t agree = 0, unchecked = 0;
  for (const ViewReport& view : report.views) {
    out += view_as_text(view);
    agree += view.verdict == Verdict::Agrees ? 1 : 0;
    unchecked += view.verdict == Verdict::Unchecked ? 1 : 0;
  }
  if (report.held.count() > 0)
    out += "client writes were held for " + std::to_string(report.held.count()) + " ms\n";
  return out + std::to_string(agree) + " of " + std::to_string(report.views.size()) + " views agree, " +
         std::to_string(report.views.size() - agree - unchecked) + " do not, " + std::to_string(unchecked) +
         " can't be checked\n";
}

std::string verification_as_json(const verify::VerifyReport& report) {
  std::string out = "{" + field("held_ms", std::to_string(report.held.count())) + ", " + field("views", "[");
  for (size_t i = 0; i < report.views.size(); ++i)
    out += (i > 0 ? ",\n " : "\n ") + view_as_json(report.views[i]);
  return out + "]}\n";
}

}  // namespace tidemark
