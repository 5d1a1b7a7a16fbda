#include "bench/orders/bench_cluster.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "server/embedded_surroundings.h"

namespace tidemark::bench {

namespace {

void die(const std::string& reason) {
  std::fprintf(stderr, "tidemark bench: %s\n", reason.c_str());
  std::_Exit(1);
}

}  // namespace

Result<std::unique_ptr<BenchCluster>> BenchCluster::start(BenchClusterOptions options) {
  std::unique_ptr<BenchCluster> out(new BenchCluster(std::move(options)));
  TM_TRY(out->open());
  for (uint32_t i = 1; i <= out->options_.nodes; ++i) out->start_node("node" + std::to_string(i));
  for (uint32_t i = 1; i <= out->options_.view_managers; ++i) {
    out->start_view_manager("vm" + std::to_string(i));
  }
  return out;
}

Status BenchCluster::open() {
  std::error_code failed;
  std::filesystem::create_directories(options_.directory, failed);
  if (failed) return Error{options_.directory + ": " + failed.message()};
  if (options_.servers) {
    auto opened = ClusterSurroundings::open(*options_.servers, {});
    if (!opened.ok()) return opened.error();
    surroundings_ = std::move(*opened);
    return {};
  }
  auto opened = EmbeddedSurroundings::open(options_.directory, Logger());
  if (!opened.ok()) return opened.error();
  surroundings_ = std::move(*opened);
  return {};
}

BenchCluster::~BenchCluster() {
  nodes_.clear();
  view_managers_.clear();
}

void BenchCluster::start_node(const std::string& name) {
  NodeServerOptions node;
  node.node = options_.node;
  node.node.name = name;
  node.listen = listen();
  node.store = options_.store;
  node.store.directory = options_.directory + "/" + name;
  node.coordinator = options_.coordinator;
  node.coordinator.embedded = !options_.servers;
  node.coordinator.nodes_min = options_.nodes;
  node.coordinator.view_managers_min = options_.view_managers;
  node.coordinator.replicas = std::min(2u, options_.nodes);
  node.launch = [](const std::string&) {};
  node.on_fatal = die;
  nodes_.push_back(std::make_unique<NodeServer>(*surroundings_, std::move(node)));
}

void BenchCluster::start_view_manager(const std::string& name) {
  ViewManagerServerOptions view_manager;
  view_manager.name = name;
  view_manager.listen = listen();
  view_manager.limits = options_.view_manager;
  view_manager.on_fatal = die;
  view_managers_[name] = std::make_unique<ViewManagerServer>(*surroundings_, std::move(view_manager));
}

void BenchCluster::kill_view_manager(const std::string& name) {
  view_managers_.erase(name);
}

NodeServer::Figures BenchCluster::node_figures() {
  NodeServer::Figures out;
  for (auto& node : nodes_) {
    const NodeServer::Figures one = node->figures();
    out.log.records += one.log.records;
    out.log.bytes += one.log.bytes;
    out.rows.rows += one.rows.rows;
    out.rows.bytes += one.rows.bytes;
    out.rows.hits += one.rows.hits;
    out.rows.misses += one.rows.misses;
    out.rows.evicted += one.rows.evicted;
    out.rows.written_back += one.rows.written_back;
    out.database_memory_bytes += one.database_memory_bytes;
    out.lanes_waiting += one.lanes_waiting;
    if (one.pauses_ring > out.pauses_ring) {
      out.pauses_ring = one.pauses_ring;
      out.pauses.clear();
    }
    if (one.pauses_ring == out.pauses_ring) {
      out.pauses.insert(out.pauses.end(), one.pauses.begin(), one.pauses.end());
    }
  }
  return out;
}

ViewManagerServer::Figures BenchCluster::view_manager_figures() {
  ViewManagerServer::Figures out;
  for (auto& [name, view_manager] : view_managers_) {
    const ViewManagerServer::Figures one = view_manager->figures();
    out.core.entries += one.core.entries;
    out.core.batches += one.core.batches;
    out.core.refused += one.core.refused;
    out.core.timeouts += one.core.timeouts;
    out.core.reopened += one.core.reopened;
    out.batches.effects += one.batches.effects;
    out.batches.combined += one.batches.combined;
  }
  return out;
}

void BenchCluster::stop() {
  for (auto& node : nodes_) node->stop();
  nodes_.clear();
  for (auto& [name, view_manager] : view_managers_) view_manager->stop();
  view_managers_.clear();
}

}  // namespace tidemark::bench
