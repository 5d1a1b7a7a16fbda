// How fast a view is filled: the command "backfill".
#include <charconv>

#include "coordinator/admin.h"

namespace tidemark {

namespace {

// Of two with the name, the one that is built beside the other.
const pb::TableDefinition* view_to_fill(const pb::Catalog& catalog, const std::string& name) {
  const pb::TableDefinition* out = nullptr;
  for (const auto& table : catalog.tables()) {
    if (table.kind() != pb::VIEW || table.name() != name || table.dropped() != 0) continue;
    if (!out || table.filled() == 0) out = &table;
  }
  return out;
}

std::string describe(std::optional<RowsPerSecond> pace) {
  if (!pace) return "goes as fast as it can";
  if (pace->value == 0) return "is paused";
  return "brings at most " + std::to_string(pace->value) + " rows/s";
}

bool has_pace(const pb::TableDefinition& view, std::optional<RowsPerSecond> pace) {
  return view.has_backfill_rows_per_second() == pace.has_value() &&
         (!pace || view.backfill_rows_per_second() == pace->value);
}

}  // namespace

Result<std::optional<RowsPerSecond>> parse_pace(const std::vector<std::string>& words) {
  const Error usage{"usage: backfill VIEW pause | resume | ROWS_PER_SECOND"};
  if (words.size() != 3) return usage;
  const std::string& how = words[2];
  if (how == "resume") return std::optional<RowsPerSecond>();
  RowsPerSecond rate;
  if (how == "pause") return std::optional(rate);
  auto parsed = std::from_chars(how.data(), how.data() + how.size(), rate.value);
  bool is_number = parsed.ec == std::errc() && parsed.ptr == how.data() + how.size();
  if (!is_number || rate > kRowsPerSecondMax) return usage;
  return std::optional(rate);
}

Result<PaceAnswer> set_pace(const pb::Catalog& catalog, const std::string& name,
                            std::optional<RowsPerSecond> pace) {
  const pb::TableDefinition* view = view_to_fill(catalog, name);
  if (!view) return Error{"there is no view \"" + name + "\""};
  if (view->filled() != 0) return PaceAnswer{"\"" + name + "\" is filled already", std::nullopt};
  PaceAnswer answer{"the backfill of \"" + name + "\" " + describe(pace), std::nullopt};
  if (has_pace(*view, pace)) return answer;
  pb::CatalogRequest request;
  request.set_expects_version(catalog.version());
  request.add_pace()->set_view(view->id());
  if (pace) request.mutable_pace(0)->set_rows_per_second(pace->value);
  Result<pb::Catalog> next = change_catalog(catalog, request);
  if (!next.ok()) return next.error();
  answer.after = std::move(*next);
  return answer;
}

}  // namespace tidemark
