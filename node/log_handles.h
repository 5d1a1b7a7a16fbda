// Open logs, shared: a stream's replica and the queues that read an ancestor's tail use one handle, since a
// store may give out only one. Lives on the node's loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "wal/log.h"

namespace tidemark {

class LogHandles {
 public:
  explicit LogHandles(LogStore& store) : store_(store) {}

  using Opened = std::function<void(Result<std::shared_ptr<Log>, LogFailure>)>;
  // The handle closes when nobody holds it any more.
  void open(StreamId stream, Opened done);

 private:
  LogStore& store_;
  std::map<StreamId, std::weak_ptr<Log>> open_;
  std::map<StreamId, std::vector<Opened>> waiting_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

// A holder's own end of a shared log: destroying it ends the holder's callbacks.
std::unique_ptr<Log> share_log(std::shared_ptr<Log> log);

}  // namespace tidemark
