#include "cli/ring_file.h"

#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "hashring/members.h"

namespace tidemark {
namespace {

using hashring::MemberId;
using simdjson::dom::element;

struct BadFile {
  std::string why;
};

uint64_t number_at(element object, const char* key, uint64_t most) {
  uint64_t value = 0;
  if (object[key].get(value) != simdjson::SUCCESS)
    throw BadFile{std::string("'") + key + "' must be a whole number"};
  if (value > most) throw BadFile{std::string("'") + key + "' is too large: " + std::to_string(value)};
  return value;
}

std::string text_at(element object, const char* key) {
  std::string_view value;
  if (object[key].get(value) != simdjson::SUCCESS) throw BadFile{std::string("'") + key + "' must be a text"};
  return std::string(value);
}

simdjson::dom::array array_at(element object, const char* key) {
  simdjson::dom::array value;
  if (object[key].get(value) != simdjson::SUCCESS)
    throw BadFile{std::string("'") + key + "' must be an array"};
  return value;
}

hashring::ShardRange range_in(element slice, uint32_t expected_first, uint32_t shards) {
  const auto first = static_cast<uint32_t>(number_at(slice, "first", shards));
  const auto end = static_cast<uint32_t>(number_at(slice, "end", shards));
  if (first != expected_first || end <= first) {
    throw BadFile{"slices must cover the shards in order, each once: see shard " +
                  std::to_string(expected_first)};
  }
  return {first, end};
}

RingFile parse_ring(element root) {
  RingFile ring;
  ring.strategy = text_at(root, "strategy");
  const auto shards = static_cast<uint32_t>(number_at(root, "shards", hashring::kShardsMax));
  std::unordered_map<std::string, MemberId> ids;
  for (element member : array_at(root, "members")) {
    const MemberId id{static_cast<uint32_t>(number_at(member, "id", UINT32_MAX))};
    ring.members.push_back({id, text_at(member, "name"), number_at(member, "weight", UINT64_MAX)});
    ids[ring.members.back().name] = id;
  }
  if (auto status = hashring::check_members(ring.members, {shards}); !status)
    throw BadFile{status.error().message};

  std::vector<MemberId> owners;
  for (element slice : array_at(root, "slices")) {
    const auto range = range_in(slice, static_cast<uint32_t>(owners.size()), shards);
    const std::string owner = text_at(slice, "owner");
    if (!ids.contains(owner)) throw BadFile{"slice owner '" + owner + "' is not a member"};
    owners.insert(owners.end(), range.count(), ids[owner]);
  }
  if (owners.size() != shards) throw BadFile{"slices end at shard " + std::to_string(owners.size())};
  ring.assignment = hashring::Assignment(std::move(owners));
  return ring;
}

std::vector<hashring::SliceLoad> parse_load(element root) {
  std::vector<hashring::SliceLoad> load;
  for (element slice : array_at(root, "slices")) {
    const uint32_t first = load.empty() ? 0 : load.back().shards.end;
    load.push_back({range_in(slice, first, hashring::kShardsMax), number_at(slice, "load", UINT64_MAX)});
  }
  return load;
}

// The parser's exceptions and ours end here.
template <typename T>
Result<T> parsed(const std::string& path, T (*parse)(element)) {
  Result<std::string> text = read_text(path);
  if (!text) return text.error();
  try {
    simdjson::dom::parser parser;
    element root;
    if (const auto error = parser.parse(*text).get(root); error != simdjson::SUCCESS) {
      return Error{path + ": not JSON: " + simdjson::error_message(error)};
    }
    return parse(root);
  } catch (const BadFile& bad) {
    return Error{path + ": " + bad.why};
  } catch (const simdjson::simdjson_error& error) {
    return Error{path + ": " + error.what()};
  }
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path + ": can not be opened"};
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return Error{path + ": can not be read"};
  return std::move(text).str();
}

Status write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error{path + ": can not be written"};
  return {};
}

Result<RingFile> read_ring(const std::string& path) {
  return parsed(path, parse_ring);
}

Result<std::vector<hashring::SliceLoad>> read_load(const std::string& path) {
  return parsed(path, parse_load);
}

Report ring_report(const RingFile& ring) {
  Report report;
  report.fields = {{"strategy", ring.strategy}, {"shards", Cell::number(uint64_t{ring.assignment.shards()})}};
  ReportTable members{"members", {"id", "name", "weight"}};
  for (const auto& member : ring.members) {
    members.rows.push_back(
        {Cell::number(uint64_t{member.id.value}), member.name, Cell::number(member.weight)});
  }
  ReportTable slices{"slices", {"first", "end", "owner"}};
  for (const hashring::Slice& slice : hashring::to_slices(ring.assignment).slices()) {
    slices.rows.push_back({Cell::number(slice.begin),
                           Cell::number(static_cast<uint64_t>(slice.begin + slice.length)),
                           name_of(ring.members, slice.owner)});
  }
  report.tables = {std::move(members), std::move(slices)};
  return report;
}

std::string name_of(const hashring::Members& members, MemberId id) {
  const auto at = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.id == id; });
  return at == members.end() ? "-" : at->name;
}

}  // namespace tidemark
