// Commands that change something: their words, what speaks against them, and their effect on the facts.
#include <algorithm>
#include <charconv>
#include <map>

#include "base/assert.h"
#include "coordinator/admin.h"
#include "coordinator/facts.h"
#include "coordinator/step_list.h"

namespace tidemark {

namespace {

using Kind = pb::Operation;

struct Form {
  const char* name;
  pb::Operation::Kind kind;
  const char* usage;
  size_t words_min;
  size_t words_max;
};
constexpr Form kForms[] = {
    {"add-vm", Kind::ADD_VIEW_MANAGER, "add-vm NAME [WEIGHT]", 1, 2},
    {"remove-vm", Kind::REMOVE_VIEW_MANAGER, "remove-vm NAME", 1, 1},
    {"recover-vm", Kind::RECOVER_VIEW_MANAGER, "recover-vm NAME", 1, 1},
    {"add-node", Kind::ADD_NODE, "add-node NAME [WEIGHT]", 1, 2},
    {"remove-node", Kind::REMOVE_NODE, "remove-node NAME", 1, 1},
    {"recover-node", Kind::RECOVER_NODE, "", 9, 0},  // Begun by the coordinator alone.
    {"move-region", Kind::MOVE_REGION, "move-region REGION NODE", 2, 2},
    {"split-region", Kind::SPLIT_REGION, "split-region REGION [SHARD]", 1, 2},
    {"merge-regions", Kind::MERGE_REGIONS, "merge-regions REGION REGION", 2, 2},
    {"discard-logs", Kind::DISCARD_LOGS, "discard-logs", 0, 0},
    {"rebalance", Kind::REBALANCE, "rebalance", 0, 0},
};

const Form* form_named(const std::string& name) {
  for (const Form& form : kForms)
    if (name == form.name && form.words_min <= form.words_max) return &form;
  return nullptr;
}

std::string region_name(uint64_t region) {
  return "region " + std::to_string(region);
}

// ---- refusals, by kind

std::optional<std::string> refuse_region(const Situation& now, uint64_t region) {
  const pb::RegionEntry* entry = now.region(region);
  if (!entry) return "there is no " + region_name(region);
  if (entry->sealed()) return region_name(region) + " was split or merged";
  for (const auto& operation : now.facts.operations.running()) {
    bool concerns = std::count(operation.regions().begin(), operation.regions().end(), region) > 0;
    if (concerns && operation.kind() != Kind::DISCARD_LOGS)
      return region_name(region) + " is busy with operation " + std::to_string(operation.id());
  }
  return std::nullopt;
}

std::optional<std::string> refuse_remove_view_manager(const Situation& now, const std::string& name) {
  if (!now.wished_view_manager(name)) return "there is no view manager " + name;
  for (const auto& wish : now.facts.wishes.view_managers())
    if (wish.name() != name && !wish.leaving() && now.is_identity_alive(wish.name())) return std::nullopt;
  return name + " is the last view manager";
}

std::optional<std::string> refuse_recover_view_manager(const Situation& now, const std::string& name) {
  const auto* wish = now.wished_view_manager(name);
  if (!wish) return "there is no view manager " + name;
  if (now.is_identity_alive(name)) return name + " is alive";
  return std::nullopt;
}

std::optional<std::string> refuse_remove_node(const Situation& now, const std::string& name) {
  if (!now.wished_node(name)) return "there is no node " + name;
  auto others = now.eligible_nodes();
  std::erase(others, name);
  if (others.empty()) return name + " is the last node";
  if (now.is_node_alive(name)) return std::nullopt;
  for (const auto* entry : now.live_regions())
    if (entry->replicas_size() == 1 && entry->replicas(0).node() == name)
      return name + " is gone and holds the only replica of " + region_name(entry->region());
  return std::nullopt;
}

std::optional<std::string> refuse_move(const Situation& now, const pb::Operation& operation) {
  if (auto reason = refuse_region(now, operation.regions(0))) return reason;
  const std::string& node = operation.member();
  if (!now.wished_node(node)) return "there is no node " + node;
  if (now.is_node_leaving(node)) return node + " is leaving";
  if (!now.is_node_alive(node)) return node + " is not alive";
  return std::nullopt;
}

std::optional<std::string> refuse_split(const Situation& now, const pb::Operation& operation) {
  if (auto reason = refuse_region(now, operation.regions(0))) return reason;
  const auto& shards = now.region(operation.regions(0))->shards();
  if (shards.end() - shards.begin() < 2)
    return region_name(operation.regions(0)) + " has one shard and can not be split";
  uint32_t at = operation.at_shard();
  if (at != 0 && (at <= shards.begin() || at >= shards.end()))
    return "shard " + std::to_string(at) + " does not divide " + region_name(operation.regions(0)) +
           ", whose shards are " + std::to_string(shards.begin()) + " to " + std::to_string(shards.end() - 1);
  return std::nullopt;
}

std::optional<std::string> refuse_merge(const Situation& now, const pb::Operation& operation) {
  uint64_t a = operation.regions(0);
  uint64_t b = operation.regions(1);
  if (a == b) return "a region can not be merged with itself";
  if (auto reason = refuse_region(now, a)) return reason;
  if (auto reason = refuse_region(now, b)) return reason;
  const auto& left = now.region(a)->shards();
  const auto& right = now.region(b)->shards();
  if (left.end() != right.begin() && right.end() != left.begin())
    return region_name(a) + " and " + region_name(b) + " are not neighbours";
  return std::nullopt;
}

// The same wish again joins the operation that serves it.
const pb::Operation* same_operation(const ClusterFacts& facts, const pb::Operation& wanted) {
  for (const auto& operation : facts.operations.running()) {
    bool same = operation.kind() == wanted.kind() && operation.member() == wanted.member() &&
                !operation.cancelling() &&
                (wanted.kind() == Kind::DISCARD_LOGS ||
                 std::equal(operation.regions().begin(), operation.regions().end(), wanted.regions().begin(),
                            wanted.regions().end()));
    bool same_weight = wanted.weight() == 0 || wanted.weight() == operation.weight();
    if (same && same_weight) return &operation;
  }
  return nullptr;
}

void wish(google::protobuf::RepeatedPtrField<pb::WishFact::Member>& members, const pb::Operation& operation,
          bool leaving) {
  pb::WishFact::Member* mine = nullptr;
  for (auto& member : members)
    if (member.name() == operation.member()) mine = &member;
  if (!mine) {
    mine = members.Add();
    mine->set_name(operation.member());
    mine->set_weight(1);
  }
  if (operation.weight() != 0) mine->set_weight(operation.weight());
  mine->set_leaving(leaving);
}

}  // namespace

std::optional<uint64_t> number_in(const std::string& word) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string name_of(pb::Operation::Kind kind) {
  for (const Form& form : kForms)
    if (form.kind == kind) return form.name;
  return "unknown";
}

std::string title_of(const pb::Operation& operation) {
  std::string out = name_of(operation.kind());
  if (operation.kind() != Kind::DISCARD_LOGS)
    for (uint64_t region : operation.regions()) out += " " + std::to_string(region);
  if (!operation.member().empty()) out += " " + operation.member();
  return out;
}

Result<pb::Operation> parse_operation(const std::vector<std::string>& words) {
  const Form* form = words.empty() ? nullptr : form_named(words[0]);
  if (!form) return Error{words.empty() ? "no command" : "there is no command \"" + words[0] + "\""};
  Error usage{std::string("usage: ") + form->usage};
  size_t given = words.size() - 1;
  if (given < form->words_min || given > form->words_max) return usage;
  pb::Operation out;
  out.set_kind(form->kind);
  bool names_regions = form->kind == Kind::MOVE_REGION || form->kind == Kind::SPLIT_REGION ||
                       form->kind == Kind::MERGE_REGIONS;
  if (names_regions) {
    auto region = number_in(words[1]);
    if (!region) return usage;
    out.add_regions(*region);
  }
  if (form->kind == Kind::MERGE_REGIONS || (form->kind == Kind::SPLIT_REGION && given == 2)) {
    auto number = number_in(words[2]);
    if (!number || (form->kind == Kind::SPLIT_REGION && (*number == 0 || *number > UINT32_MAX))) return usage;
    if (form->kind == Kind::MERGE_REGIONS) out.add_regions(*number);
    if (form->kind == Kind::SPLIT_REGION) out.set_at_shard(static_cast<uint32_t>(*number));
  }
  if (form->kind == Kind::MOVE_REGION) out.set_member(words[2]);
  if (!names_regions && given >= 1) out.set_member(words[1]);
  if (!names_regions && given == 2) {
    auto weight = number_in(words[2]);
    if (!weight || *weight == 0 || *weight > 1000) return Error{"a weight is a number from 1 to 1000"};
    out.set_weight(static_cast<uint32_t>(*weight));
  }
  if (!out.member().empty() && !is_valid_member_name(out.member()))
    return Error{"\"" + out.member() + "\" is not a name: letters, digits, '-', '_' and '.' only"};
  return out;
}

std::optional<std::string> refusal_of(const Situation& now, const pb::Operation& operation) {
  if (same_operation(now.facts, operation)) return std::nullopt;
  switch (operation.kind()) {
    case Kind::REMOVE_VIEW_MANAGER: return refuse_remove_view_manager(now, operation.member());
    case Kind::RECOVER_VIEW_MANAGER: return refuse_recover_view_manager(now, operation.member());
    case Kind::REMOVE_NODE: return refuse_remove_node(now, operation.member());
    case Kind::MOVE_REGION: return refuse_move(now, operation);
    case Kind::SPLIT_REGION: return refuse_split(now, operation);
    case Kind::MERGE_REGIONS: return refuse_merge(now, operation);
    default: return std::nullopt;
  }
}

std::optional<std::string> already_done(const Situation& now, const pb::Operation& operation) {
  const std::string& name = operation.member();
  const auto same_weight = [&](const pb::WishFact::Member& wish) {
    return operation.weight() == 0 || operation.weight() == wish.weight();
  };
  if (same_operation(now.facts, operation)) return std::nullopt;
  switch (operation.kind()) {
    case Kind::ADD_VIEW_MANAGER: {
      const auto* wish = now.wished_view_manager(name);
      bool there = wish && !wish->leaving() && same_weight(*wish) && now.in_ring(name);
      return there ? std::optional(name + " is a view manager already") : std::nullopt;
    }
    case Kind::REMOVE_VIEW_MANAGER: {
      const auto* wish = now.wished_view_manager(name);
      return wish && wish->leaving() ? std::optional(name + " has left already") : std::nullopt;
    }
    case Kind::ADD_NODE: {
      const auto* wish = now.wished_node(name);
      bool there = wish && !wish->leaving() && same_weight(*wish) && now.is_node_alive(name);
      return there ? std::optional(name + " is a node already") : std::nullopt;
    }
    case Kind::REMOVE_NODE: {
      const auto* wish = now.wished_node(name);
      return wish && wish->leaving() ? std::optional(name + " has left already") : std::nullopt;
    }
    case Kind::MOVE_REGION: {
      const pb::RegionEntry* entry = now.region(operation.regions(0));
      bool there = entry && !entry->sealed() && entry->owner() == name;
      return there ? std::optional(region_name(entry->region()) + " is on " + name + " already")
                   : std::nullopt;
    }
    default: return std::nullopt;
  }
}

uint64_t begin_operation(const Situation& now, ClusterFacts& facts, pb::Operation operation) {
  if (operation.kind() == Kind::RECOVER_VIEW_MANAGER) {
    for (auto& running : *facts.operations.mutable_running()) {
      if (running.kind() != operation.kind() || running.member() != operation.member()) continue;
      running.set_urgent(true);  // Asked for: nobody waits for its return any more.
      return running.id();
    }
    operation.set_urgent(true);
  }
  if (const auto* same = same_operation(facts, operation)) return same->id();
  switch (operation.kind()) {
    case Kind::ADD_VIEW_MANAGER:
    case Kind::REMOVE_VIEW_MANAGER:
      wish(*facts.wishes.mutable_view_managers(), operation, operation.kind() == Kind::REMOVE_VIEW_MANAGER);
      break;
    case Kind::ADD_NODE:
    case Kind::REMOVE_NODE:
      wish(*facts.wishes.mutable_nodes(), operation, operation.kind() == Kind::REMOVE_NODE);
      break;
    default: break;
  }
  pb::Operation& mine = steps::add_operation(facts, operation.kind(), operation.member(), now);
  *mine.mutable_regions() = operation.regions();
  mine.set_weight(operation.weight());
  mine.set_at_shard(operation.at_shard());
  mine.set_urgent(operation.urgent());
  return mine.id();
}

}  // namespace tidemark
