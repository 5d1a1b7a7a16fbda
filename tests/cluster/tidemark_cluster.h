// A cluster of real processes: ZooKeeper, Kafka, storage nodes and view managers, each of which can be
// killed, paused, cut off, restarted, or lose its disk. Nothing is left behind, however the test ends.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/asio_loop.h"
#include "tests/cluster/admin.h"
#include "tests/cluster/link.h"
#include "tests/cluster/sql_client.h"
#include "tests/cluster/tidemark_process.h"
#include "tests/servers/kafka.h"
#include "tests/servers/zookeeper.h"

namespace tidemark::crash {

struct ClusterShape {
  servers::ZooKeeperSize zookeepers = servers::ZooKeeperSize::One;
  servers::KafkaSize brokers = servers::KafkaSize::One;
  uint32_t nodes = 2;
  uint32_t view_managers = 2;
  uint32_t standbys = 0;  // View managers that wait to take over.
  uint32_t regions = 4;
  uint32_t replicas = 2;
  std::chrono::milliseconds session_timeout{4000};
  std::chrono::milliseconds checkpoint_interval{2000};
  std::chrono::milliseconds replica_absence{20'000};
  std::string activation = "node";
};

enum class Role : uint8_t { Node, ViewManager };

// A process of the cluster, and what it owns. It stays the same through restarts.
class Member {
 public:
  Member(Role role, std::string name, AsioLoop& links);

  const std::string& name() const { return name_; }
  Role role() const { return role_; }
  TidemarkProcess& process() { return *process_; }

  // Of nodes. The data's directory is removed: a machine that is lost, or a new disk. REQUIRES: not running.
  const std::filesystem::path& data() const { return data_; }
  void wipe();

  const std::string& sql_address() const { return sql_address_; }  // Of nodes.
  // Where it listens itself, past its link.
  const std::string& address() const { return address_; }

  // Others reach it by this one ...
  Link& inbound() { return *inbound_; }
  // ... and it reaches each server of ZooKeeper by one of these.
  std::vector<std::unique_ptr<Link>>& to_zookeeper() { return to_zookeeper_; }

 private:
  friend class TidemarkCluster;
  const Role role_;
  const std::string name_;
  servers::HeldPort port_;
  servers::HeldPort sql_port_;
  const std::string address_;
  const std::string sql_address_;
  std::unique_ptr<Link> inbound_;
  std::vector<std::unique_ptr<Link>> to_zookeeper_;
  std::filesystem::path data_;
  std::unique_ptr<TidemarkProcess> process_;
};

// Serves when the constructor returns. Members throw ServerError. For one thread, but for gateways().
class TidemarkCluster {
 public:
  explicit TidemarkCluster(ClusterShape shape);

  const ClusterShape& shape() const { return shape_; }
  servers::ZooKeeperServer& zookeeper() { return *zookeeper_; }
  servers::KafkaCluster& kafka() { return *kafka_; }
  Gateways& gateways() { return gateways_; }

  // In the order in which they were added; those that were forgotten are not among them.
  std::vector<Member*> nodes();
  std::vector<Member*> view_managers();
  Member& member(const std::string& name);

  // A new process, not yet launched. Its data may lie elsewhere, as on a disk of its own.
  Member& add_node(const std::filesystem::path& data = {});
  Member& add_view_manager(bool standby = false);
  // Ends its process, if it runs, and forgets it.
  void forget(Member& member);

  // All of Tidemark's processes: launched together, then ready.
  void start_all();
  void kill_all();

  // Asks nodes that run, in turn, until one answers; `words` as on the command line.
  AdminSaid admin(const std::vector<std::string>& words);
  // Throws if nobody answers within `deadline`.
  ClusterShown status(std::chrono::milliseconds deadline = servers::kReadyDeadline);
  std::vector<OperationShown> history();
  // Until every region is served, has `replicas` checkpoints as far as there are nodes, and nothing runs.
  void wait_until_settled(std::chrono::milliseconds deadline = std::chrono::minutes(3));

  const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  Member& add(Role role, const std::string& name);
  std::string zookeeper_servers(Member& member);
  void configure_node(Member& node);
  void configure_view_manager(Member& view_manager, bool standby);
  void give_process(Member& member, const std::string& command, const std::string& config);
  std::vector<Member*> of(Role role);

  const ClusterShape shape_;
  servers::TemporaryDirectory directory_;
  std::unique_ptr<servers::ZooKeeperServer> zookeeper_;
  std::unique_ptr<servers::KafkaCluster> kafka_;
  AsioLoop links_{"links"};
  Gateways gateways_;
  Admin admin_;
  std::vector<std::unique_ptr<Member>> members_;
  std::map<Role, uint32_t> added_;
};

}  // namespace tidemark::crash
