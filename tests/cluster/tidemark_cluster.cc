#include "tests/cluster/tidemark_cluster.h"

#include <algorithm>
#include <fstream>

#include "base/assert.h"

namespace tidemark::crash {
namespace {

std::string millis(std::chrono::milliseconds duration) {
  return "\"" + std::to_string(duration.count()) + "ms\"";
}

std::string in_quotes(const std::string& text) {
  return "\"" + text + "\"";
}

// Long settings that tests share: small memories, since many processes share one machine.
constexpr const char* kMemory =
    "[memory]\nrow_cache = \"32MB\"\nblock_cache = \"8MB\"\nwrite_buffers = \"8MB\"\n";

}  // namespace

Member::Member(Role role, std::string name, AsioLoop& links)
    : role_(role),
      name_(std::move(name)),
      address_(port_.address()),
      sql_address_(role == Role::Node ? sql_port_.address() : ""),
      inbound_(std::make_unique<Link>(links, address_)) {}

void Member::wipe() {
  TM_ASSERT(!process_->running());
  std::filesystem::remove_all(data_);
}

TidemarkCluster::TidemarkCluster(ClusterShape shape)
    : shape_(shape), directory_("cluster"), admin_(directory_.path()) {
  zookeeper_ = std::make_unique<servers::ZooKeeperServer>(shape_.zookeepers);
  kafka_ = std::make_unique<servers::KafkaCluster>(shape_.brokers);
  for (uint32_t i = 0; i < shape_.nodes; ++i) add_node();
  for (uint32_t i = 0; i < shape_.view_managers; ++i) add_view_manager();
  for (uint32_t i = 0; i < shape_.standbys; ++i) add_view_manager(true);
  start_all();
}

std::vector<Member*> TidemarkCluster::of(Role role) {
  std::vector<Member*> out;
  for (const auto& member : members_)
    if (member->role() == role) out.push_back(member.get());
  return out;
}

std::vector<Member*> TidemarkCluster::nodes() {
  return of(Role::Node);
}
std::vector<Member*> TidemarkCluster::view_managers() {
  return of(Role::ViewManager);
}

Member& TidemarkCluster::member(const std::string& name) {
  for (const auto& member : members_)
    if (member->name() == name) return *member;
  throw servers::ServerError("there is no process " + name);
}

Member& TidemarkCluster::add(Role role, const std::string& name) {
  members_.push_back(std::make_unique<Member>(role, name, links_));
  return *members_.back();
}

Member& TidemarkCluster::add_node(const std::filesystem::path& data) {
  Member& node = add(Role::Node, "node" + std::to_string(++added_[Role::Node]));
  node.data_ = data.empty() ? directory_.path() / node.name() : data;
  configure_node(node);
  gateways_.add(node.sql_address());
  return node;
}

Member& TidemarkCluster::add_view_manager(bool standby) {
  Member& added =
      add(Role::ViewManager, (standby ? "standby" : "vm") + std::to_string(++added_[Role::ViewManager]));
  configure_view_manager(added, standby);
  return added;
}

void TidemarkCluster::forget(Member& member) {
  if (member.process().running()) member.process().kill();
  gateways_.remove(member.sql_address());
  std::erase_if(members_, [&](const auto& one) { return one.get() == &member; });
}

std::string TidemarkCluster::zookeeper_servers(Member& member) {
  std::string servers = zookeeper_->connect_string();
  std::string out;
  for (size_t begin = 0; begin < servers.size();) {
    const size_t end = std::min(servers.find(',', begin), servers.size());
    member.to_zookeeper_.push_back(std::make_unique<Link>(links_, servers.substr(begin, end - begin)));
    out += (out.empty() ? "" : ",") + member.to_zookeeper_.back()->address();
    begin = end + 1;
  }
  return "[zookeeper]\nservers = " + in_quotes(out) +
         "\nroot = \"/tidemark\"\nsession_timeout = " + millis(shape_.session_timeout) + "\n";
}

void TidemarkCluster::configure_node(Member& node) {
  give_process(node, "node",
               "[node]\nname = " + in_quotes(node.name()) + "\nlisten = " + in_quotes(node.address()) +
                   "\nadvertise = " + in_quotes(node.inbound().address()) +
                   "\ndata = " + in_quotes(node.data().string()) + "\ncheckpoint_interval = " +
                   millis(shape_.checkpoint_interval) + "\n[sql]\nlisten = " + in_quotes(node.sql_address()) +
                   "\n" + zookeeper_servers(node) + "[kafka]\nbrokers = " + in_quotes(kafka_->bootstrap()) +
                   "\n[cluster]\nregions = " + std::to_string(shape_.regions) + "\nreplicas = " +
                   std::to_string(shape_.replicas) + "\nnodes_min = " + std::to_string(shape_.nodes) +
                   "\nview_managers_min = " + std::to_string(shape_.view_managers) +
                   "\nactivation = " + in_quotes(shape_.activation) +
                   "\n[coordinator]\nreplica_absence = " + millis(shape_.replica_absence) + "\n" + kMemory);
}

void TidemarkCluster::configure_view_manager(Member& view_manager, bool standby) {
  give_process(view_manager, "view-manager",
               "[view_manager]\nname = " + in_quotes(view_manager.name()) +
                   "\nlisten = " + in_quotes(view_manager.address()) +
                   "\nadvertise = " + in_quotes(view_manager.inbound().address()) +
                   "\nstandby = " + (standby ? "true" : "false") + "\n" + zookeeper_servers(view_manager));
}

void TidemarkCluster::give_process(Member& member, const std::string& command, const std::string& config) {
  const std::filesystem::path file = directory_.path() / (member.name() + ".toml");
  std::ofstream(file) << config;
  member.process_ = std::make_unique<TidemarkProcess>(
      member.name(), std::vector<std::string>{command, "--config", file.string()},
      directory_.path() / (member.name() + ".log"));
}

void TidemarkCluster::start_all() {
  for (const auto& member : members_) member->process().launch();
  for (const auto& member : members_) member->process().wait_until_ready();
}

void TidemarkCluster::kill_all() {
  for (const auto& member : members_)
    if (member->process().running()) member->process().kill();
}

AdminSaid TidemarkCluster::admin(const std::vector<std::string>& words) {
  AdminSaid said;
  for (Member* node : nodes()) {
    if (!node->process().answers()) continue;
    said = admin_.ask(node->address(), words);
    if (said.ok()) return said;
  }
  return said;
}

ClusterShown TidemarkCluster::status(std::chrono::milliseconds deadline) {
  std::optional<ClusterShown> shown;
  servers::wait_until(
      "a coordinator answers",
      [&] {
        for (Member* node : nodes())
          if (node->process().answers() && (shown = admin_.status(node->address()))) return true;
        return false;
      },
      deadline);
  return *shown;
}

std::vector<OperationShown> TidemarkCluster::history() {
  std::optional<std::vector<OperationShown>> shown;
  servers::wait_until("a coordinator answers", [&] {
    for (Member* node : nodes())
      if (node->process().answers() && (shown = admin_.history(node->address()))) return true;
    return false;
  });
  return *shown;
}

void TidemarkCluster::wait_until_settled(std::chrono::milliseconds deadline) {
  servers::wait_until(
      "every region is served and copied, and nothing runs",
      [&] {
        const ClusterShown now = status(deadline);
        const size_t alive = static_cast<size_t>(
            std::count_if(now.nodes.begin(), now.nodes.end(), [](const auto& node) { return node.alive; }));
        const size_t copies = std::min<size_t>(shape_.replicas, alive);
        const auto live = now.live_regions();
        return now.running.empty() && now.all_served() &&
               std::all_of(live.begin(), live.end(),
                           [&](const auto& region) { return region.checkpoints >= copies; });
      },
      deadline);
}

}  // namespace tidemark::crash
