#include "cli/view_manager_command.h"

#include "base/process/shutdown.h"
#include "cli/command.h"
#include "cli/process_settings.h"
#include "coordinator/facts.h"
#include "server/listen_address.h"
#include "server/view_manager_server.h"
#include "server/watchdog.h"

namespace tidemark {

namespace {

constexpr char kCommand[] = "tidemark view-manager";

struct ViewManagerSettings {
  std::string name;
  std::string listen = "127.0.0.1:0";
  std::string advertise;
  uint32_t weight = 1;
  bool standby = false;
  Micros hang_patience{60'000'000};
  ByteSize input{ViewManagerLimits{}.input_bytes_max};
  ByteSize effects{ViewManagerLimits{}.effects_bytes_max};
  ProcessSettings process;
  SurroundingsSettings surroundings;

  void add_to(Settings& settings) {
    settings.add("view_manager.name", name, "unique in the cluster; survives restarts");
    settings.add("view_manager.listen", listen, "where nodes connect; port 0: any");
    settings.add("view_manager.advertise", advertise,
                 "what nodes are told to connect to; empty: what is listened on");
    settings.add("view_manager.weight", weight, "its share of the shards");
    settings.add("view_manager.standby", standby, "waits to take over from one that dies");
    settings.add("view_manager.hang_patience", hang_patience,
                 "a process whose event loop hangs for so long is ended");
    settings.add("memory.input", input, "changes that nodes may send ahead");
    settings.add("memory.effects", effects, "effects computed and not yet acknowledged");
    surroundings.add_zookeeper_to(settings);
    process.add_to(settings);
  }

  Status check() const {
    if (!is_valid_member_name(name))
      return Error{
          "view_manager.name is missing or no good: use letters, digits, '-', '_' and '.', the first a "
          "letter, digit or '_'"};
    return check_listen_address("view_manager.listen", listen, process.remote_allowed);
  }
};

ViewManagerServerOptions options_from(const ViewManagerSettings& settings, const Logger& log) {
  ViewManagerServerOptions options;
  options.name = settings.name;
  options.address = settings.advertise;
  options.listen = Address{settings.listen};
  options.weight = settings.weight;
  options.standby = settings.standby;
  options.limits.input_bytes_max = settings.input.value;
  options.limits.effects_bytes_max = settings.effects.value;
  options.log = log;
  options.on_fatal = [](const std::string& reason) { end_process(kCommand, reason); };
  options.on_ready = say_ready;
  return options;
}

}  // namespace

int view_manager_command(int argc, char** argv) {
  ViewManagerSettings view_manager;
  Settings settings;
  view_manager.add_to(settings);
  if (auto ended = parse_or_end(settings, argc, argv, kCommand, "runs a view manager of a cluster"))
    return *ended;
  if (Status status = view_manager.check(); !status.ok()) return say_wrong_usage(kCommand, status.error());

  ShutdownSignal shutdown;
  auto process = Process::start(view_manager.process, kCommand);
  if (!process.ok()) return say_failed(kCommand, process.error());
  auto surroundings = view_manager.surroundings.open({(*process)->logger("wal"), (*process)->logger("net")});
  if (!surroundings.ok()) return say_failed(kCommand, surroundings.error());

  ViewManagerServerOptions options = options_from(view_manager, (*process)->logger("view-manager"));
  options.metrics = &(*process)->metrics();
  auto on_fatal = options.on_fatal;
  ViewManagerServer server(**surroundings, std::move(options));
  std::optional<Watchdog> watchdog;
  watchdog.emplace(std::vector<Watchdog::Watched>{{"view manager", &server.loop()}},
                   view_manager.hang_patience, on_fatal);

  (*process)->logger("view-manager").info("ends", kv("signal", shutdown.wait()));
  watchdog.reset();
  server.stop();
  return kDone;
}

}  // namespace tidemark
