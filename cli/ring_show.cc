// diff and explain.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>
#include <cstdio>
#include <memory>

#include "cli/ring_file.h"
#include "cli/ring_subcommands.h"
#include "hashring/preference_list.h"
#include "hashring/token_ring.h"

namespace tidemark {
namespace {

using hashring::MemberId;
using hashring::ReplicaPlacement;

const std::vector<std::pair<std::string, ReplicaPlacement>> kPlacements = {
    {"clockwise", ReplicaPlacement::Clockwise},
    {"random", ReplicaPlacement::Random},
    {"rotation", ReplicaPlacement::Rotation},
    {"jumping", ReplicaPlacement::Jumping},
};

struct DiffOptions {
  std::string old_path, next_path;
};

// A member keeps its name, not its id, between files that were computed apart.
Status check_same_names(const RingFile& old, const RingFile& next) {
  for (const auto& member : old.members) {
    for (const auto& other : next.members) {
      if ((member.id == other.id) != (member.name == other.name)) {
        return Error{"the rings do not belong together: '" + member.name + "' and '" + other.name +
                     "' share an id or a name; compute the second with --present"};
      }
    }
  }
  return {};
}

Result<Report> show_diff(const DiffOptions& options) {
  const Result<RingFile> old = read_ring(options.old_path), next = read_ring(options.next_path);
  if (!old) return old.error();
  if (!next) return next.error();
  TM_TRY(check_same_names(*old, *next));
  const auto moves = hashring::diff(old->assignment, next->assignment);
  if (!moves) return as_error(moves.error());
  uint64_t moved = 0;
  ReportTable table{"moves", {"first", "end", "shards", "from", "to"}};
  for (const hashring::Move& move : *moves) {
    moved += move.shards.count();
    table.rows.push_back({Cell::number(uint64_t{move.shards.first}), Cell::number(uint64_t{move.shards.end}),
                          Cell::number(uint64_t{move.shards.count()}), name_of(old->members, move.from),
                          name_of(next->members, move.to)});
  }
  const uint32_t shards = old->assignment.shards();
  Report report;
  report.fields = {{"shards", Cell::number(uint64_t{shards})},
                   {"moved", Cell::number(moved)},
                   {"moved percent", Cell::number(100.0 * static_cast<double>(moved) / shards, 2)}};
  report.tables = {std::move(table)};
  return report;
}

struct ExplainOptions {
  std::string path, key, hash, placement = "clockwise";
  int64_t shard = -1;
  size_t replicas = 3;
};

Result<uint64_t> parse_hash(const std::string& text) {
  const bool is_hex = text.rfind("0x", 0) == 0;
  uint64_t value = 0;
  const char *begin = text.data() + (is_hex ? 2 : 0), *end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
  if (error != std::errc{} || stopped != end) return Error{"'" + text + "' is not a 64-bit number"};
  return value;
}

Result<hashring::Shard> chosen_shard(const ExplainOptions& options, const hashring::Assignment& ring,
                                     Report& report) {
  if (options.shard >= 0) {
    if (options.shard >= ring.shards())
      return Error{"the ring has shards 0 to " + std::to_string(ring.shards() - 1)};
    return hashring::Shard{static_cast<uint32_t>(options.shard)};
  }
  uint64_t hash = XXH3_64bits(options.key.data(), options.key.size());
  if (!options.hash.empty()) {
    const Result<uint64_t> given = parse_hash(options.hash);
    if (!given) return given.error();
    hash = *given;
  }
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(hash));
  report.fields.emplace_back("hash", text);
  return ring.shard_of(hash);
}

// Why the owner owns it.
std::string reason(const RingFile& ring, const hashring::Slice& slice, hashring::Shard shard) {
  const std::string within = "shards " + std::to_string(slice.begin) + " to " +
                             std::to_string(static_cast<uint64_t>(slice.begin + slice.length) - 1) +
                             " are one slice";
  if (ring.strategy != hashring::name_of(hashring::StrategyKind::TokenRing)) return within;
  const auto tokens = hashring::TokenRing::of({.bits = 64, .shards = ring.assignment.shards()}, ring.members);
  if (!tokens || tokens->assignment() != ring.assignment)
    return within + "; claimed with another number of tokens";
  if (const auto& claim = tokens->claim(shard))
    return within + "; claimed by a token of rank " + std::to_string(claim->rank);
  return within + "; unclaimed, so with the claimed shard before it";
}

Result<Report> explain(const ExplainOptions& options) {
  const Result<RingFile> ring = read_ring(options.path);
  if (!ring) return ring.error();
  const auto placement = std::find_if(kPlacements.begin(), kPlacements.end(),
                                      [&](const auto& named) { return named.first == options.placement; });
  if (placement == kPlacements.end())
    return Error{"there is no replica placement '" + options.placement + "'"};
  Report report;
  const Result<hashring::Shard> shard = chosen_shard(options, ring->assignment, report);
  if (!shard) return shard.error();
  const hashring::SliceRing slices = hashring::to_slices(ring->assignment);
  if (options.replicas < 1 || options.replicas > slices.owner_count()) {
    return Error{std::to_string(options.replicas) + " replicas need as many members; the ring has " +
                 std::to_string(slices.owner_count())};
  }
  report.fields.emplace_back("shard", Cell::number(uint64_t{shard->value}));
  report.fields.emplace_back("owner", name_of(ring->members, ring->assignment.owner(*shard)));
  report.fields.emplace_back("because", reason(*ring, slices.slice(slices.index_of(shard->value)), *shard));

  ReportTable table{"preference", {"place", "member", "role"}};
  hashring::PreferenceList list(slices, placement->second, shard->value);
  for (size_t i = 0; i < 2 * options.replicas; ++i) {
    const std::optional<MemberId> member = list.next();
    if (!member) break;
    table.rows.push_back({Cell::number(uint64_t{i}), name_of(ring->members, *member),
                          i == 0                 ? "primary"
                          : i < options.replicas ? "replica"
                                                 : "hand-off"});
  }
  report.tables = {std::move(table)};
  return report;
}

}  // namespace

RingSubcommand add_ring_diff(CLI::App& ring) {
  CLI::App* app = ring.add_subcommand("diff", "Which shards move from whom to whom between two rings");
  auto options = std::make_shared<DiffOptions>();
  app->add_option("old", options->old_path, "file of the old ring")->required();
  app->add_option("next", options->next_path, "file of the next ring")->required();
  return {app, [options] { return show_diff(*options); }};
}

RingSubcommand add_ring_explain(CLI::App& ring) {
  CLI::App* app = ring.add_subcommand("explain", "Who owns a key and why, its replicas and its hand-offs");
  auto options = std::make_shared<ExplainOptions>();
  app->add_option("ring", options->path, "file of the ring")->required();
  auto* what = app->add_option_group("what", "what to explain");
  what->add_option("--key", options->key, "bytes, hashed by XXH3");
  what->add_option("--hash", options->hash, "64 bits, decimal or 0x...");
  what->add_option("--shard", options->shard, "a shard's number")->check(CLI::NonNegativeNumber);
  what->require_option(1);
  app->add_option("--replicas", options->replicas, "copies, the primary included")->capture_default_str();
  app->add_option("--placement", options->placement, "clockwise, random, rotation or jumping")
      ->capture_default_str();
  return {app, [options] { return explain(*options); }};
}

}  // namespace tidemark
