// A cluster within one process: messages by pointer, facts in a small file, logs in files. A lock on the logs
// keeps a second process out.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "coordinator/memory_coordination.h"
#include "net/local_network.h"
#include "server/surroundings.h"
#include "wal/file_log.h"

namespace tidemark {

class EmbeddedSurroundings final : public Surroundings {
 public:
  // Everything lies below `directory`, which is made if missing. Error: it can not be used, or another
  // process has it; says what to do.
  static Result<std::unique_ptr<EmbeddedSurroundings>> open(const std::string& directory, const Logger& log);
  ~EmbeddedSurroundings() override;

  std::unique_ptr<Coordination> coordination(Scheduler& loop) override;
  std::unique_ptr<LogStore> logs(Scheduler& loop) override;
  Result<Endpoint> connect(AsioLoop& loop, const EndpointOptions& options) override;

 private:
  EmbeddedSurroundings(std::unique_ptr<FileLogs> logs, EntryTree entries, CoordinationTree::Save save);

  std::unique_ptr<FileLogs> logs_;
  LocalNetwork network_;
  AsioLoop loop_{"facts"};
  std::unique_ptr<CoordinationTree> tree_;  // Lives on loop_.
};

}  // namespace tidemark
