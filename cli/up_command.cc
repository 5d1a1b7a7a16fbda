#include "cli/up_command.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/assert.h"
#include "base/process/shutdown.h"
#include "cli/command.h"
#include "cli/process_settings.h"
#include "server/embedded_cluster.h"
#include "server/listen_address.h"

namespace tidemark {

namespace {

constexpr char kCommand[] = "tidemark up";

struct UpSettings {
  std::string data;
  std::string listen = "127.0.0.1:7432";
  std::string admin_listen = "127.0.0.1:7400";
  uint32_t nodes = 1;
  uint32_t view_managers = 2;
  ProcessSettings process;
  NodeMemorySettings memory;
  SqlSettings sql;
  NewClusterSettings cluster;

  UpSettings() { cluster.coordinator.regions = 4; }

  void add_to(Settings& settings) {
    settings.add("data", data, "directory of logs, checkpoints and facts; made if missing");
    settings.add("listen", listen, "where PostgreSQL's clients connect");
    settings.add("admin-listen", admin_listen, "where `tidemark admin` connects");
    settings.add("nodes", nodes, "storage nodes");
    settings.add("view-managers", view_managers, "view managers to begin with");
    settings.add("regions", cluster.coordinator.regions, "regions of a new cluster");
    process.add_to(settings);
    memory.add_to(settings);
    sql.add_to(settings);
    cluster.add_to(settings);
  }

  Status check() const {
    if (data.empty()) return Error{"--data DIR is missing"};
    if (nodes == 0 || view_managers == 0) return Error{"there must be a node and a view manager at least"};
    TM_TRY(check_listen_address("listen", listen, process.remote_allowed));
    TM_TRY(check_listen_address("admin-listen", admin_listen, process.remote_allowed));
    return cluster.check();
  }
};

EmbeddedClusterOptions options_from(const UpSettings& settings, Process& process) {
  EmbeddedClusterOptions options;
  options.directory = settings.data;
  options.sql_listen = Address{settings.listen};
  options.admin_listen = Address{settings.admin_listen};
  options.nodes = settings.nodes;
  options.view_managers = settings.view_managers;
  options.coordinator = settings.cluster.settings();
  settings.memory.apply_to(options.store);
  options.sql_limits = settings.sql.limits();
  options.log = &process.log();
  options.metrics = &process.metrics();
  options.on_fatal = [](const std::string& reason) { end_process(kCommand, reason); };
  return options;
}

// Said once by any thread; whoever waits for it can wait for signals too.
class Ready {
 public:
  Ready() : descriptor_(::eventfd(0, EFD_CLOEXEC)) { TM_ASSERT(descriptor_ >= 0, errno); }
  ~Ready() { ::close(descriptor_); }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;

  void say() { TM_ASSERT(::eventfd_write(descriptor_, 1) == 0, errno); }
  // False: a signal came first.
  bool wait(const ShutdownSignal& shutdown) const { return !shutdown.comes_before(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

int up_command(int argc, char** argv) {
  UpSettings up;
  Settings settings;
  up.add_to(settings);
  if (auto ended = parse_or_end(settings, argc, argv, kCommand, "runs a whole cluster in one process"))
    return *ended;
  if (Status status = up.check(); !status.ok()) return say_wrong_usage(kCommand, status.error());

  ShutdownSignal shutdown;
  auto process = Process::start(up.process, kCommand);
  if (!process.ok()) return say_failed(kCommand, process.error());
  EmbeddedClusterOptions options = options_from(up, **process);
  Ready ready;  // Outlives the cluster.
  options.on_ready = [&ready] { ready.say(); };
  auto cluster = EmbeddedCluster::start(std::move(options));
  if (!cluster.ok()) return say_failed(kCommand, cluster.error());
  if (ready.wait(shutdown)) {
    std::printf("ready: SQL at %s, admin at %s\n", (*cluster)->sql_address().value.c_str(),
                (*cluster)->admin_address().value.c_str());
    std::fflush(stdout);
  }
  std::string signal = shutdown.wait();
  (*process)->logger("up").info("ends", kv("signal", signal));
  (*cluster)->stop();
  return kDone;
}

}  // namespace tidemark
