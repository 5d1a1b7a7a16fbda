#include "server/embedded_surroundings.h"

#include <filesystem>

#include "coordinator/coordination_file.h"
#include "server/entropy.h"

namespace tidemark {

namespace {

// Waits for what the loop was told before.
struct Settled {
  explicit Settled(AsioLoop& loop) : loop_(loop) {}
  ~Settled() {
    loop_.run([] {});
  }
  AsioLoop& loop_;
};

// The end of a session is told on the tree's loop, which still tells the session's loop of it. Whoever
// destroys a session may destroy its loop next, so by then that must be over: bases end in reverse order.
class EmbeddedCoordination final : private Settled, public MemoryCoordination {
 public:
  EmbeddedCoordination(AsioLoop& facts, CoordinationTree& tree, Scheduler& loop)
      : Settled(facts), MemoryCoordination(tree, loop, Random(entropy())) {}
};

}  // namespace

Result<std::unique_ptr<EmbeddedSurroundings>> EmbeddedSurroundings::open(const std::string& directory,
                                                                         const Logger& log) {
  std::filesystem::path top(directory);
  FileLogsOptions options{top / "wal", {}};
  options.stream.notice = [log](const std::string& what) { log.warning(what); };
  std::error_code failed;
  std::filesystem::create_directories(top, failed);
  if (failed) return Error{directory + ": " + failed.message()};
  auto logs = FileLogs::open(std::move(options));
  if (!logs.ok()) return logs.error();
  CoordinationFile file(top / "facts");
  auto entries = file.load();
  if (!entries.ok()) return entries.error();
  return std::unique_ptr<EmbeddedSurroundings>(new EmbeddedSurroundings(
      std::move(*logs), std::move(*entries), [file](const std::string& snapshot) { file.save(snapshot); }));
}

EmbeddedSurroundings::EmbeddedSurroundings(std::unique_ptr<FileLogs> logs, EntryTree entries,
                                           CoordinationTree::Save save)
    : logs_(std::move(logs)),
      tree_(std::make_unique<CoordinationTree>(loop_, std::move(entries), std::move(save))) {}

EmbeddedSurroundings::~EmbeddedSurroundings() {
  loop_.stop();
}

std::shared_ptr<AsioLoop> EmbeddedSurroundings::loop(const std::string& name) {
  std::lock_guard lock(mutex_);
  return loops_.emplace_back(std::make_shared<AsioLoop>(name));
}

std::unique_ptr<Coordination> EmbeddedSurroundings::coordination(Scheduler& loop) {
  return std::make_unique<EmbeddedCoordination>(loop_, *tree_, loop);
}

std::unique_ptr<LogStore> EmbeddedSurroundings::logs(Scheduler& loop) {
  return logs_->connect(loop);
}

Result<Surroundings::Endpoint> EmbeddedSurroundings::connect(AsioLoop& loop, const EndpointOptions& options) {
  Address address{options.name};
  return Endpoint{network_.connect(address, loop), address};
}

}  // namespace tidemark
