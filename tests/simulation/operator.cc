#include "tests/simulation/operator.h"

#include <algorithm>
#include <set>

namespace tidemark::sim {

namespace {

template <typename Message>
FactWatch::OnFact into(Message& message) {
  return [&message](const std::optional<Fact>& fact) {
    if (fact) message.ParseFromString(fact->data);
  };
}

bool is_filling(const pb::TableDefinition& table) {
  return table.kind() == pb::VIEW && table.filled() == 0 && table.dropped() == 0;
}

// Slower than it could be, or not at all.
bool is_paced(const pb::TableDefinition& table) {
  return is_filling(table) && table.has_backfill_rows_per_second();
}

}  // namespace

Operator::Operator(SimCluster& cluster, const Scenario& scenario, Tables& tables, Random random, Trace& trace)
    : cluster_(cluster),
      scenario_(scenario),
      tables_(tables),
      random_(random),
      trace_(trace),
      loop_(cluster.world().scheduler),
      coordination_(cluster.world(), loop_, random_.fork()),
      transport_(cluster.world().network.connect(Address{"operator of the run"}, loop_)) {
  transport_->set_handlers({[this](const Address&, MessagePtr message) { on_answer(*message); }, {}});
  auto watch = [this](const char* path, FactWatch::OnFact on_fact) {
    watches_.push_back(std::make_unique<FactWatch>(coordination_, loop_, path, std::move(on_fact)));
  };
  watch(paths::kCatalog, into(catalog_));
  watch(paths::kRegionMap, into(map_));
  watch(paths::kOperations, into(operations_));
  watch(paths::kWishes, into(wishes_));
}

// ---- requests

void Operator::send(std::shared_ptr<pb::Message> message) {
  message->set_request(next_request_++);
  const int node = static_cast<int>(random_.below(static_cast<uint64_t>(cluster_.node_count())));
  transport_->send(cluster_.node(node).address(), message);
}

void Operator::command(const std::string& kind, const Words& words) {
  auto message = std::make_shared<pb::Message>();
  std::string text;
  for (const std::string& word : words) {
    message->mutable_admin()->add_words(word);
    text += (text.empty() ? "" : " ") + word;
  }
  trace_.say("operator:", text);
  asked_[next_request_] = kind;
  send(message);
}

void Operator::on_answer(const pb::Message& message) {
  const auto asked = asked_.find(message.request());
  if (asked == asked_.end() || !message.has_admin_reply()) return;
  trace_.say("operator is told:", message.admin_reply().out());
  if (message.admin_reply().exit_code() == 0) ++counts_[asked->second];
  asked_.erase(asked);
}

// ---- views

bool Operator::is_in_catalog(const std::string& name) const {
  return std::any_of(
      catalog_.tables().begin(), catalog_.tables().end(),
      [&](const pb::TableDefinition& table) { return table.name() == name && table.dropped() == 0; });
}

void Operator::ask_catalog() {
  auto message = std::make_shared<pb::Message>();
  *message->mutable_change_catalog() = wanted_;
  message->mutable_change_catalog()->set_expects_version(catalog_.version());
  send(message);
}

bool Operator::has_wanted() const {
  std::map<uint32_t, bool> known;  // By id: is it dropped?
  for (const pb::TableDefinition& table : catalog_.tables()) known[table.id()] = table.dropped() != 0;
  for (const pb::TableDefinition& table : catalog_.tables()) {
    const bool to_resume =
        std::any_of(wanted_.pace().begin(), wanted_.pace().end(),
                    [&](const pb::CatalogRequest::Pace& pace) { return pace.view() == table.id(); });
    if (to_resume && is_paced(table)) return false;
  }
  return std::all_of(wanted_.create().begin(), wanted_.create().end(),
                     [&](const auto& table) { return known.contains(table.id()); }) &&
         std::all_of(wanted_.drop().begin(), wanted_.drop().end(), [&](uint32_t id) { return known.at(id); });
}

bool Operator::settle_catalog() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (has_wanted()) {
      wanted_.Clear();
      return true;
    }
    ask_catalog();
    cluster_.run_until([this] { return has_wanted(); }, Micros{200'000});
  }
  return false;
}

bool Operator::resume_backfills() {
  for (const pb::TableDefinition& table : catalog_.tables())
    if (is_paced(table)) wanted_.add_pace()->set_view(table.id());
  return settle_catalog();
}

bool Operator::create_another() {
  create(random_view(true));
  return settle_catalog();
}

SimProcess* Operator::choose_lost() {
  // Those that stay, if as many as are needed are left without one of them and without those that may be
  // about to leave.
  auto spare = [this](const auto& members, const std::string& removal, double needed) {
    std::set<std::string> names;
    for (const pb::WishFact::Member& member : members)
      if (!member.leaving()) names.insert(member.name());
    const auto removals = std::count_if(asked_.begin(), asked_.end(),
                                        [&](const auto& asked) { return asked.second == removal; });
    const double needs = needed + 1 + static_cast<double>(removals);
    return static_cast<double>(names.size()) >= needs ? names : std::set<std::string>{};
  };
  std::vector<SimProcess*> candidates;
  const pb::WishFact wishes = cluster_.wishes();
  const std::set<std::string> managers = spare(wishes.view_managers(), "remove view manager", 1);
  const std::set<std::string> nodes = spare(wishes.nodes(), "remove node", scenario_.replicas);
  // Of one that has not come yet, who asked for it can tell whether it will.
  const pb::OperationsFact operations = cluster_.operations();
  auto is_coming = [&](const std::string& name) {
    return std::any_of(operations.running().begin(), operations.running().end(), [&](const auto& operation) {
      return operation.kind() == pb::Operation::ADD_VIEW_MANAGER && operation.member() == name;
    });
  };
  for (SimProcess* process : cluster_.processes()) {
    const std::string& name = process->name();
    const bool can_go = managers.contains(name) ||
                        (nodes.contains(name) && cluster_.can_spare_disk(*process, scenario_.whole_logs > 0));
    if (can_go && !is_coming(name)) candidates.push_back(process);
  }
  if (candidates.empty()) return nullptr;
  SimProcess* lost = candidates[random_.below(candidates.size())];
  lost_ = lost->name();
  return lost;
}

void Operator::create(const ViewSpec& view) {
  for (const pb::TableDefinition& table : tables_.create_view(view)) *wanted_.add_create() = table;
  views_.push_back(view);
  trace_.say("operator:", statement_of(view));
  ++counts_["create view"];
}

ViewSpec Operator::random_view(bool later) {
  static constexpr ViewKind kKinds[] = {ViewKind::Large,     ViewKind::ByGroup,  ViewKind::Counts,
                                        ViewKind::Total,     ViewKind::Extremes, ViewKind::Latest,
                                        ViewKind::Either,    ViewKind::Pairs,    ViewKind::LeftPairs,
                                        ViewKind::Histogram, ViewKind::PairSums, ViewKind::Copy};
  ViewSpec view;
  view.from = random_.chance(0.5) ? "a" : "b";
  view.with = view.from == "a" ? "b" : "a";
  view.limit = random_.between(5, 25);
  // A copy that is made later shows no prefix while it is filled: it gets a name that readers do not know.
  view.kind = kKinds[random_.below(std::size(kKinds) - (later ? 0 : 1))];
  const ViewKind source = view.kind == ViewKind::Histogram ? ViewKind::Counts : ViewKind::Pairs;
  if (view.is_over_view()) {
    const auto below =
        std::find_if(views_.begin(), views_.end(), [&](const ViewSpec& one) { return one.kind == source; });
    if (below == views_.end()) {
      view.kind = source;
    } else {
      view.from = below->name;
    }
  }
  const std::string kind = to_string(view.kind);
  view.name = kind + std::to_string(++made_[kind]);
  return view;
}

std::vector<ViewSpec> Operator::first_views() {
  std::vector<ViewSpec> out;
  for (const char* table : {"a", "b"}) {
    out.push_back({ViewKind::Copy, std::string("copy_") + table, table, "", 0});
    out.push_back({ViewKind::CopyAgain, std::string("again_") + table, std::string("copy_") + table, "", 0});
  }
  return out;
}

bool Operator::set_up() {
  if (!cluster_.run_until([&] { return cluster_.serving() && map_.version() > 0; })) return false;
  for (const char* table : {"a", "b"}) {
    *wanted_.add_create() = tables_.create_table(table).front();
    if (!settle_catalog()) return false;
  }
  const std::vector<ViewSpec> first = first_views();
  const size_t copies = scenario_.tokens > 0 ? first.size() : 1;
  for (size_t i = 0; i < copies; ++i) {
    create(first[i]);
    if (!settle_catalog()) return false;
  }
  for (int i = 0; i < static_cast<int>(scenario_.views); ++i) {
    create(random_view(false));
    if (!settle_catalog()) return false;
  }
  // A view that is being filled shows no prefix of its source's history, and no token.
  return cluster_.run_until([this] { return unfinished().empty() && all_filled(); }, Micros{60'000'000});
}

bool Operator::all_filled() {
  uint32_t shards = 0;
  bool filled = true;
  for (int i = 0; i < cluster_.node_count(); ++i) {
    StorageNode* node = cluster_.storage_node(i);
    if (node == nullptr) continue;
    node->regions().for_each([&](RegionReplica& region) {
      if (!region.owning()) return;
      shards += region.state().identity().shards.size();
      filled = filled && region.state().backfilling().empty() &&
               region.state().catalog().version().value == catalog_.version();
    });
  }
  return filled && shards == cluster_.options().shards.value;
}

void Operator::change_views() {
  if (!wanted_.create().empty() || !wanted_.drop().empty()) return;
  const bool drops = random_.chance(scenario_.drops);
  if (!drops) {
    create(random_view(true));
    // Most would be filled in a moment.
    if (scenario_.paces > 0 && random_.chance(0.6))
      wanted_.mutable_create(0)->set_backfill_rows_per_second(random_.chance(0.5) ? 0 : 5);
    return;
  }
  std::vector<size_t> free;  // Nothing is over them.
  for (size_t i = 0; i < views_.size(); ++i) {
    const bool used = std::any_of(views_.begin(), views_.end(),
                                  [&](const ViewSpec& other) { return other.from == views_[i].name; });
    const bool read = views_[i].kind == ViewKind::Copy || views_[i].kind == ViewKind::CopyAgain;
    if (!used && !read && is_in_catalog(views_[i].name)) free.push_back(i);
  }
  if (free.empty()) return;
  const size_t at = free[random_.below(free.size())];
  const uint32_t id = tables_.id(views_[at].name).value;
  for (const pb::TableDefinition& table : catalog_.tables()) {
    if (table.id() == id || table.view() == id) wanted_.add_drop(table.id());
  }
  trace_.say("operator: drop", views_[at].name);
  ++counts_["drop view"];
  tables_.drop_view(views_[at].name);
  views_.erase(views_.begin() + static_cast<ptrdiff_t>(at));
}

void Operator::change_pace() {
  std::vector<std::string> filling;
  for (const pb::TableDefinition& table : catalog_.tables())
    if (is_filling(table)) filling.push_back(table.name());
  if (filling.empty()) return;
  static constexpr const char* kPaces[] = {"pause", "pause", "resume", "5", "50"};
  command("pace backfill",
          {"backfill", filling[random_.below(filling.size())], kPaces[random_.below(std::size(kPaces))]});
}

// ---- members and regions

const pb::RegionEntry* Operator::random_region() {
  std::vector<const pb::RegionEntry*> live;
  for (const pb::RegionEntry& entry : map_.regions()) {
    if (!entry.sealed()) live.push_back(&entry);
  }
  return live.empty() ? nullptr : live[random_.below(live.size())];
}

void Operator::change_regions() {
  const pb::RegionEntry* region = random_region();
  if (region == nullptr) return;
  const std::string id = std::to_string(region->region());
  const uint64_t kind = random_.below(10);
  if (kind < 3) {
    const int node = static_cast<int>(random_.below(static_cast<uint64_t>(cluster_.node_count())));
    return command("move region", {"move-region", id, cluster_.node(node).name()});
  }
  if (kind < 6) {
    const int64_t size = int64_t{region->shards().end()} - region->shards().begin();
    if (size < 2) return;
    const int64_t at = region->shards().begin() + random_.between(1, size - 1);
    return command("split region", {"split-region", id, std::to_string(at)});
  }
  if (kind < 8) {
    for (const pb::RegionEntry& other : map_.regions()) {
      if (other.sealed() || other.shards().begin() != region->shards().end()) continue;
      return command("merge regions", {"merge-regions", id, std::to_string(other.region())});
    }
    return;
  }
  if (kind < 9) return command("rebalance", {"rebalance"});
  change_nodes();
}

void Operator::change_nodes() {
  if (scenario_.embedded > 0) return;
  const bool fewer = cluster_.node_count() >= 6 || random_.chance(0.5);
  if (!fewer) return command("add node", {"add-node", cluster_.add_node().name()});
  std::vector<std::string> staying;
  for (const auto& node : wishes_.nodes()) {
    if (!node.leaving()) staying.push_back(node.name());
  }
  if (staying.size() <= std::max(2.0, scenario_.replicas)) return;
  command("remove node", {"remove-node", staying[random_.below(staying.size())]});
}

void Operator::change_view_managers() {
  std::vector<std::string> staying;
  for (const auto& manager : wishes_.view_managers()) {
    if (!manager.leaving()) staying.push_back(manager.name());
  }
  if (staying.empty()) return;
  const std::string one = staying[random_.below(staying.size())];
  switch (random_.below(4)) {
    case 0:
    case 1:
      if (cluster_.view_manager_count() >= 8) return;
      return command("add view manager", {"add-vm", cluster_.add_view_manager().name()});
    case 2: return command("remove view manager", {"remove-vm", one});
    default: return command("recover view manager", {"recover-vm", one});
  }
}

void Operator::act() {
  // So many of each over the whole run, at random times.
  auto due = [this](double count) { return random_.chance(count / scenario_.operations); };
  if (due(scenario_.region_changes * 2)) change_regions();  // About half of them are refused.
  if (due(scenario_.view_manager_changes * 1.5)) change_view_managers();
  if (due(scenario_.views_later * (1 + scenario_.drops))) change_views();
  if (scenario_.paces > 0 && due(scenario_.paces)) change_pace();
  if (due(scenario_.discards)) command("discard logs", {"discard-logs"});
  if (due(scenario_.cancels * scenario_.region_changes) && !operations_.running().empty()) {
    const auto& operation = operations_.running(static_cast<int>(random_.below(operations_.running_size())));
    command("cancel", {"cancel", std::to_string(operation.id())});
  }
  // A request may have been lost.
  if (!wanted_.create().empty() || !wanted_.drop().empty()) {
    if (random_.chance(0.05)) ask_catalog();
    if (has_wanted()) wanted_.Clear();
  }
}

std::string Operator::unfinished() const {
  for (const auto& operation : operations_.running())
    return "operation " + std::to_string(operation.id()) + " of kind " +
           pb::Operation::Kind_Name(operation.kind()) + " is running";
  for (const auto& change : map_.changes())
    return "change " + std::to_string(change.id()) + " is in phase " +
           pb::RegionChange::Phase_Name(change.phase());
  for (const auto& table : catalog_.tables()) {
    if (table.kind() == pb::VIEW && table.begun() == 0 && table.dropped() == 0)
      return "view " + table.name() + " has not begun";
    if (is_filling(table)) return "view " + table.name() + " is not filled";
  }
  return "";
}

std::string Operator::left_over() const {
  bool all_twice = true;
  for (const auto& region : map_.regions())
    all_twice = all_twice && (region.sealed() || region.replicas_size() > 1 || scenario_.embedded > 0);
  for (const auto& region : map_.regions()) {
    if (region.sealed() && all_twice)
      return "region " + std::to_string(region.region()) + " is still there beside what it became";
  }
  return lacking_replicas();
}

bool Operator::has_checkpoint(const pb::Replica& replica, RegionId region) const {
  for (int i = 0; i < cluster_.node_count(); ++i) {
    if (cluster_.node(i).name() != replica.node()) continue;
    const auto& saved = cluster_.disk(i).checkpoints();
    const auto found = saved.find(region);
    return found != saved.end() && found->second.joined.value == replica.joined();
  }
  return false;
}

std::string Operator::lacking_replicas() const {
  std::set<std::string> there;
  for (const auto& node : wishes_.nodes())
    if (!node.leaving() && node.name() != lost_) there.insert(node.name());
  const size_t wanted = std::min(there.size(), static_cast<size_t>(scenario_.replicas));
  for (const auto& region : map_.regions()) {
    const auto& replicas = region.replicas();
    const auto count =
        static_cast<size_t>(std::count_if(replicas.begin(), replicas.end(), [&](const auto& one) {
          return there.contains(one.node()) && has_checkpoint(one, RegionId{region.region()});
        }));
    if (!region.sealed() && count < wanted) {
      return "region " + std::to_string(region.region()) + " has " + std::to_string(count) +
             " replicas with checkpoints";
    }
  }
  return "";
}

}  // namespace tidemark::sim
