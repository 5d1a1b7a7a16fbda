#include "tests/cluster/admin.h"

#include <simdjson.h>

#include <algorithm>

#include "tests/cluster/tidemark_process.h"

namespace tidemark::crash {
namespace {

using simdjson::dom::element;

std::string text_of(const element& object, const char* key) {
  return std::string(std::string_view(object[key]));
}

RegionShown region_from(const element& json) {
  RegionShown out{.id = json["region"],
                  .first_shard = json["first_shard"],
                  .end_shard = json["end_shard"],
                  .owner = text_of(json, "owner"),
                  .state = text_of(json, "state")};
  for (const element& replica : json["replicas"]) {
    ++out.replicas;
    out.checkpoints += bool(replica["checkpoint"]);
  }
  return out;
}

MemberShown member_from(const element& json, const char* holds) {
  return {.name = text_of(json, "name"),
          .alive = json["alive"],
          .leaving = json["leaving"],
          .holds = uint64_t(json[holds])};
}

ClusterShown cluster_from(const element& json) {
  ClusterShown out;
  out.coordinator = text_of(json, "coordinator");
  out.lag_records = json["lag_records"];
  for (const element& node : json["nodes"]) out.nodes.push_back(member_from(node, "holds"));
  for (const element& one : json["view_managers"]) out.view_managers.push_back(member_from(one, "shards"));
  for (const element& region : json["regions"]) out.regions.push_back(region_from(region));
  for (const element& operation : json["running"]) out.running.push_back(text_of(operation, "what"));
  return out;
}

OperationShown operation_from(const element& json) {
  OperationShown out{.id = json["operation"],
                     .what = text_of(json, "what"),
                     .outcome = text_of(json, "outcome"),
                     .took_micros = int64_t(json["ended_at_micros"]) - int64_t(json["begun_at_micros"])};
  for (const element& pause : json["pauses"])
    out.longest_pause_micros = std::max(out.longest_pause_micros, int64_t(pause["micros"]));
  return out;
}

}  // namespace

std::vector<RegionShown> ClusterShown::live_regions() const {
  std::vector<RegionShown> out;
  for (const RegionShown& region : regions)
    if (region.state != "sealed") out.push_back(region);
  return out;
}

bool ClusterShown::all_served() const {
  const auto live = live_regions();
  return !live.empty() && std::all_of(live.begin(), live.end(),
                                      [](const RegionShown& region) { return region.state == "served"; });
}

AdminSaid Admin::ask(const std::string& address, std::vector<std::string> words) const {
  std::vector<std::string> arguments{"admin", "--connect", address};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const ProgramEnd end = run_tidemark(arguments, directory_);
  return {end.exit_code, end.said};
}

std::optional<ClusterShown> Admin::status(const std::string& address) const {
  const AdminSaid said = ask(address, {"--json", "status"});
  if (!said.ok()) return std::nullopt;
  simdjson::dom::parser parser;
  return cluster_from(parser.parse(said.text));
}

std::optional<std::vector<OperationShown>> Admin::history(const std::string& address) const {
  const AdminSaid said = ask(address, {"history", "--json"});  // Flags may stand anywhere.
  if (!said.ok()) return std::nullopt;
  simdjson::dom::parser parser;
  std::vector<OperationShown> out;
  const element json = parser.parse(said.text);
  for (const element& operation : json["history"]) out.push_back(operation_from(operation));
  return out;
}

}  // namespace tidemark::crash
