#include "tests/cluster/faults.h"

#include "tests/cluster/region_churn.h"

namespace tidemark::crash {
namespace {

using Repair = std::function<void()>;

constexpr std::chrono::minutes kOperationDeadline{2};

Member* any_running(const std::vector<Member*>& members, Random& random) {
  std::vector<Member*> running;
  for (Member* member : members)
    if (member->process().answers()) running.push_back(member);
  return running.empty() ? nullptr : running[random.below(running.size())];
}

// ---- processes of Tidemark

Repair kill(Member* member, std::string& what) {
  if (member == nullptr) return {};
  what = member->name();
  member->process().kill();
  return [process = &member->process()] { process->start(); };
}

Repair pause(Member* member, std::string& what) {
  if (member == nullptr) return {};
  what = member->name();
  member->process().pause();
  return [process = &member->process()] { process->resume(); };
}

Repair restart(Member* member, std::string& what) {
  if (member == nullptr) return {};
  what = member->name();
  member->process().stop();
  return [process = &member->process()] { process->start(); };
}

// Its disk goes with it; it comes back with an empty one.
Repair lose_machine(FaultWorld& world, std::string& what) {
  Member* node = any_running(world.cluster.nodes(), world.random);
  if (node == nullptr || node->name() == world.disk_node || world.cluster.nodes().size() < 3) return {};
  world.cluster.wait_until_settled();  // One copy is lost: there must be another.
  what = node->name();
  node->process().kill();
  node->wipe();
  return [node] { node->process().start(); };
}

Repair fill_disk(FaultWorld& world, std::string& what) {
  if (world.disk == nullptr) return {};
  what = world.disk_node;
  world.disk->fill();
  return [&world, node = &world.cluster.member(world.disk_node)] {
    world.disk->free();
    // It may have ended, saying so.
    if (!node->process().running()) node->process().start();
  };
}

// ---- links

Repair cut(const std::vector<Link*>& links, Random& random) {
  for (Link* link : links) link->cut();
  return [links, how = random.chance(0.5) ? Heal::Reset : Heal::Resume] {
    for (Link* link : links) link->heal(how);
  };
}

Repair cut_inbound(Member* member, Random& random, std::string& what) {
  if (member == nullptr) return {};
  what = member->name();
  return cut({&member->inbound()}, random);
}

Repair cut_from_zookeeper(Member* member, Random& random, std::string& what) {
  if (member == nullptr) return {};
  what = member->name();
  std::vector<Link*> links;
  for (const auto& link : member->to_zookeeper()) links.push_back(link.get());
  return cut(links, random);
}

// ---- servers

Repair kill(servers::Server& server, std::string& what) {
  what = server.name();
  server.kill();
  return [&server] { server.start(); };
}

Repair pause(servers::Server& server, std::string& what) {
  what = server.name();
  server.pause();
  return [&server] { server.resume(); };
}

// ---- what operators do

std::string joined(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

bool is_running(const ClusterShown& now, const std::string& what) {
  for (const std::string& one : now.running)
    if (one.starts_with(what)) return true;
  return false;
}

void await_end(TidemarkCluster& cluster, const std::string& operation) {
  servers::wait_until(
      operation + " ends", [&] { return !is_running(cluster.status(), operation); }, kOperationDeadline);
}

Repair begin(FaultWorld& world, Words words, std::string& what) {
  if (words.empty()) return {};
  what = joined(words);
  words.insert(words.begin(), "--no-wait");
  const AdminSaid said = world.cluster.admin(words);
  if (!said.ok()) what += " (refused: " + said.text.substr(0, said.text.find('\n')) + ")";
  // What the operator asked for ends when it can.
  return [] {};
}

Repair add_node(FaultWorld& world, std::string& what) {
  if (world.cluster.nodes().size() > world.nodes) return {};
  Member& added = world.cluster.add_node();
  what = added.name();
  added.process().launch();
  return [&added] { added.process().wait_until_ready(); };
}

Repair remove_node(FaultWorld& world, std::string& what) {
  if (world.cluster.nodes().size() <= world.nodes) {
    std::string added;
    add_node(world, added)();
  }
  Member* node = any_running(world.cluster.nodes(), world.random);
  if (node == nullptr || node->name() == world.disk_node) return {};
  Repair nothing = begin(world, {"remove-node", node->name()}, what);
  return [&world, node] {
    await_end(world.cluster, "remove-node " + node->name());
    node->process().stop();
    world.cluster.forget(*node);
  };
}

Repair add_view_manager(FaultWorld& world, std::string& what) {
  const auto& shape = world.cluster.shape();
  if (world.cluster.view_managers().size() > shape.view_managers + shape.standbys) return {};
  Member& added = world.cluster.add_view_manager();
  what = added.name();
  added.process().launch();
  return [&added] { added.process().wait_until_ready(); };
}

Repair remove_view_manager(FaultWorld& world, std::string& what) {
  const auto& shape = world.cluster.shape();
  if (world.cluster.view_managers().size() <= shape.view_managers + shape.standbys) {
    std::string added;
    add_view_manager(world, added)();
  }
  // By its identity: a standby may bear it.
  const ClusterShown now = world.cluster.status();
  std::vector<std::string> names;
  for (const MemberShown& one : now.view_managers)
    if (one.alive && !one.leaving) names.push_back(one.name);
  if (names.size() < 2) return {};
  const std::string name = names[world.random.below(names.size())];
  Repair nothing = begin(world, {"remove-vm", name}, what);
  return [&world, name] {
    await_end(world.cluster, "remove-vm " + name);
    Member& left = world.cluster.member(name);
    if (left.process().running()) left.process().stop();
    world.cluster.forget(left);
  };
}

// ---- the list

using Inject = std::function<Repair(FaultWorld&, std::string&)>;
struct Kind {
  const char* name;
  Target target;
  Inject inject;
};

std::vector<Kind> process_kinds() {
  using W = FaultWorld;
  using S = std::string;
  auto node = [](W& w) { return any_running(w.cluster.nodes(), w.random); };
  auto vm = [](W& w) { return any_running(w.cluster.view_managers(), w.random); };
  auto coordinator = [](W& w) { return &w.cluster.member(w.cluster.status().coordinator); };
  return {
      {"kill node", Target::Node, [=](W& w, S& what) { return kill(node(w), what); }},
      {"pause node", Target::Node, [=](W& w, S& what) { return pause(node(w), what); }},
      {"restart node", Target::Node, [=](W& w, S& what) { return restart(node(w), what); }},
      {"kill coordinator", Target::Node, [=](W& w, S& what) { return kill(coordinator(w), what); }},
      {"pause coordinator", Target::Node, [=](W& w, S& what) { return pause(coordinator(w), what); }},
      {"lose machine", Target::Node, lose_machine},
      {"fill disk", Target::Node, fill_disk},
      {"cut links to node", Target::Node,
       [=](W& w, S& what) { return cut_inbound(node(w), w.random, what); }},
      {"cut node from ZooKeeper", Target::Node,
       [=](W& w, S& what) { return cut_from_zookeeper(node(w), w.random, what); }},
      {"kill view manager", Target::ViewManager, [=](W& w, S& what) { return kill(vm(w), what); }},
      {"pause view manager", Target::ViewManager, [=](W& w, S& what) { return pause(vm(w), what); }},
      {"restart view manager", Target::ViewManager, [=](W& w, S& what) { return restart(vm(w), what); }},
      {"cut links to view manager", Target::ViewManager,
       [=](W& w, S& what) { return cut_inbound(vm(w), w.random, what); }},
      {"cut view manager from ZooKeeper", Target::ViewManager,
       [=](W& w, S& what) { return cut_from_zookeeper(vm(w), w.random, what); }},
  };
}

std::vector<Kind> server_kinds() {
  using W = FaultWorld;
  using S = std::string;
  auto broker = [](W& w) -> servers::Server& {
    return w.cluster.kafka().broker(w.random.below(w.cluster.kafka().size()));
  };
  auto zookeeper = [](W& w) -> servers::Server& {
    return w.cluster.zookeeper().member(w.random.below(w.cluster.zookeeper().size()));
  };
  return {
      {"kill broker", Target::Kafka, [=](W& w, S& what) { return kill(broker(w), what); }},
      {"pause broker", Target::Kafka, [=](W& w, S& what) { return pause(broker(w), what); }},
      {"kill ZooKeeper server", Target::ZooKeeper, [=](W& w, S& what) { return kill(zookeeper(w), what); }},
      {"pause ZooKeeper server", Target::ZooKeeper, [=](W& w, S& what) { return pause(zookeeper(w), what); }},
      {"kill ZooKeeper leader", Target::ZooKeeper,
       [](W& w, S& what) {
         return kill(w.cluster.zookeeper().member(w.cluster.zookeeper().leader()), what);
       }},
  };
}

std::vector<Kind> operator_kinds() {
  using W = FaultWorld;
  using S = std::string;
  return {
      {"move region", Target::Node,
       [](W& w, S& what) { return begin(w, random_move(w.cluster.status(), w.random), what); }},
      {"split region", Target::Node,
       [](W& w, S& what) { return begin(w, random_split(w.cluster.status(), w.random), what); }},
      {"merge regions", Target::Node,
       [](W& w, S& what) { return begin(w, random_merge(w.cluster.status(), w.random), what); }},
      {"discard logs", Target::Node, [](W& w, S& what) { return begin(w, {"discard-logs"}, what); }},
      {"rebalance", Target::ViewManager, [](W& w, S& what) { return begin(w, {"rebalance"}, what); }},
      {"add node", Target::Node, add_node},
      {"remove node", Target::Node, remove_node},
      {"add view manager", Target::ViewManager, add_view_manager},
      {"remove view manager", Target::ViewManager, remove_view_manager},
  };
}

}  // namespace

std::vector<Fault> make_faults(FaultWorld& world) {
  std::vector<Fault> out;
  for (const auto& kinds : {process_kinds(), server_kinds(), operator_kinds()})
    for (const Kind& kind : kinds)
      out.push_back({kind.name, kind.target,
                     [&world, inject = kind.inject](std::string& what) { return inject(world, what); }});
  return out;
}

}  // namespace tidemark::crash
