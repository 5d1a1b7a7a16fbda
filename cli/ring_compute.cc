#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include "base/nearest.h"
#include "cli/ring_file.h"
#include "cli/ring_subcommands.h"
#include "hashring/handoff_ring.h"
#include "hashring/shares.h"

namespace tidemark {
namespace {

using hashring::Assignment;
using hashring::Member;
using hashring::MemberId;
using hashring::Members;

struct Options {
  std::vector<std::string> members, add, remove;
  uint32_t count = 0;
  uint32_t shards = 16384;
  std::string strategy{hashring::name_of(hashring::kDefaultStrategy)};
  uint32_t tokens = 64;
  std::string present, load, output;
};

struct NameAndWeight {
  std::string name;
  uint64_t weight;
};

// NAME or NAME=WEIGHT.
Result<NameAndWeight> parse_member(const std::string& text) {
  const size_t equals = text.rfind('=');
  const std::string name = text.substr(0, equals);
  if (name.empty()) return Error{"a member needs a name: '" + text + "'"};
  if (equals == std::string::npos) return NameAndWeight{name, 1};
  uint64_t weight = 0;
  const char *begin = text.data() + equals + 1, *end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, weight);
  if (error != std::errc{} || stopped != end || weight == 0) {
    return Error{"the weight of '" + name + "' must be a whole number from 1 on, not '" +
                 std::string(begin, end) + "'"};
  }
  return NameAndWeight{name, weight};
}

// Ids are never reused: a new member gets one above all present ones.
class Roster {
 public:
  explicit Roster(const Members& known) : known_(known) {
    for (const Member& member : known) next_ = std::max(next_, member.id.value + 1);
  }
  Status add(const std::string& text) {
    const Result<NameAndWeight> parsed = parse_member(text);
    if (!parsed) return parsed.error();
    const auto known =
        std::find_if(known_.begin(), known_.end(), [&](const Member& m) { return m.name == parsed->name; });
    const MemberId id = known != known_.end() ? known->id : MemberId{next_++};
    members_.push_back({id, parsed->name, parsed->weight});
    return {};
  }
  Status remove(const std::string& name) {
    if (std::erase_if(members_, [&](const Member& m) { return m.name == name; }) == 0) {
      return Error{"there is no member '" + name + "' to remove"};
    }
    return {};
  }
  void keep(const Members& members) { members_ = members; }
  const Members& members() const { return members_; }

 private:
  const Members& known_;
  uint32_t next_ = 0;
  Members members_;
};

Result<Members> wanted_members(const Options& options, const Members& known) {
  Roster roster(known);
  if (options.members.empty() && options.count == 0) roster.keep(known);
  for (const std::string& text : options.members) TM_TRY(roster.add(text));
  for (uint32_t i = 0; i < options.count; ++i) TM_TRY(roster.add("n" + std::to_string(i)));
  for (const std::string& text : options.add) TM_TRY(roster.add(text));
  for (const std::string& name : options.remove) TM_TRY(roster.remove(name));
  return roster.members();
}

ReportTable balance_table(const RingFile& ring) {
  std::map<MemberId, uint64_t> shards, slices;
  for (const hashring::Slice& slice : hashring::to_slices(ring.assignment).slices()) {
    shards[slice.owner] += static_cast<uint64_t>(slice.length);
    ++slices[slice.owner];
  }
  const std::vector<hashring::u128> fair = hashring::fair_shares(ring.assignment.size(), ring.members, {});
  ReportTable table{"balance", {"member", "weight", "shards", "fair", "percent", "slices"}};
  for (size_t i = 0; i < ring.members.size(); ++i) {
    const Member& member = ring.members[i];
    table.rows.push_back(
        {member.name, Cell::number(member.weight), Cell::number(shards[member.id]),
         Cell::number(static_cast<uint64_t>(fair[i])),
         Cell::number(100.0 * static_cast<double>(shards[member.id]) / ring.assignment.shards(), 2),
         Cell::number(slices[member.id])});
  }
  return table;
}

ReportTable measure_table(const std::vector<hashring::ShardRange>& slices) {
  ReportTable table{"measure", {"first", "end"}};
  for (const auto& slice : slices) {
    table.rows.push_back({Cell::number(uint64_t{slice.first}), Cell::number(uint64_t{slice.end})});
  }
  return table;
}

Error unknown_strategy(const std::string& given) {
  std::vector<std::string> known;
  for (const auto kind : hashring::all_strategies()) known.emplace_back(hashring::name_of(kind));
  return {"there is no strategy '" + given + "'" + did_you_mean(given, known)};
}

Result<Report> compute(const Options& options) {
  const auto kind = hashring::strategy_named(options.strategy);
  if (!kind) return unknown_strategy(options.strategy);
  RingFile present{"", {}, Assignment::unowned(options.shards)};
  if (!options.present.empty()) {
    Result<RingFile> read = read_ring(options.present);
    if (!read) return read.error();
    present = *std::move(read);
  }
  Result<Members> members = wanted_members(options, present.members);
  if (!members) return members.error();
  std::vector<hashring::SliceLoad> load;
  if (!options.load.empty()) {
    auto read = read_load(options.load);
    if (!read) return read.error();
    load = *std::move(read);
  }
  const auto next =
      hashring::plan({.kind = *kind, .tokens = options.tokens}, *members, present.assignment, load);
  if (!next) return as_error(next.error());

  const RingFile ring{options.strategy, *std::move(members), next->assignment};
  Report file = ring_report(ring);
  if (!options.output.empty()) TM_TRY(write_text(options.output, as_json(file)));
  const hashring::SliceRing slices = hashring::to_slices(ring.assignment);
  const auto handoff = *hashring::handoff_ring(hashring::to_slices(present.assignment), slices);
  const double moved = static_cast<double>(hashring::units_moved(handoff));
  file.fields.emplace_back("slice count", Cell::number(uint64_t{slices.slice_count()}));
  file.fields.emplace_back("moved percent", Cell::number(100 * moved / ring.assignment.shards(), 2));
  file.tables.push_back(balance_table(ring));
  if (!next->slices.empty()) file.tables.push_back(measure_table(next->slices));
  return file;
}

}  // namespace

RingSubcommand add_ring_compute(CLI::App& ring) {
  CLI::App* app = ring.add_subcommand("compute", "The next assignment, from members and the present one");
  auto options = std::make_shared<Options>();
  app->add_option("--member", options->members, "NAME or NAME=WEIGHT, once per member");
  app->add_option("--count", options->count, "members n0, n1, ... of weight 1");
  app->add_option("--add", options->add, "NAME or NAME=WEIGHT, beside those of the present ring");
  app->add_option("--remove", options->remove, "NAME, of those of the present ring");
  app->add_option("--shards", options->shards, "of a new ring")->check(CLI::Range(1u, hashring::kShardsMax));
  std::string names;
  for (const auto kind : hashring::all_strategies()) names += " " + std::string(hashring::name_of(kind));
  app->add_option("--strategy", options->strategy, "one of" + names)->capture_default_str();
  app->add_option("--tokens", options->tokens, "per unit of weight: token-ring, karger")
      ->capture_default_str();
  app->add_option("--present", options->present, "file of the present ring");
  app->add_option("--load", options->load, "file of the load per slice: weighted-move");
  app->add_option("--output", options->output, "write the ring to this file too");
  return {app, [options] { return compute(*options); }};
}

}  // namespace tidemark
