#include "server/embedded_surroundings.h"

#include <filesystem>

#include "coordinator/coordination_file.h"
#include "server/entropy.h"

namespace tidemark {

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

std::unique_ptr<Coordination> EmbeddedSurroundings::coordination(Scheduler& loop) {
  return std::make_unique<MemoryCoordination>(*tree_, loop, Random(entropy()));
}

std::unique_ptr<LogStore> EmbeddedSurroundings::logs(Scheduler& loop) {
  return logs_->connect(loop);
}

Result<Surroundings::Endpoint> EmbeddedSurroundings::connect(AsioLoop& loop, const EndpointOptions& options) {
  Address address{options.name};
  return Endpoint{network_.connect(address, loop), address};
}

}  // namespace tidemark
