// `tidemark admin`: asks any node of a cluster; whoever is the coordinator answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proto/messages.pb.h"

namespace tidemark {

// argv[0] is "admin". Returns an ExitCode.
int admin_command(int argc, char** argv);

// The way to a cluster. Fails if nobody answers in time; asking again is harmless, every command is
// idempotent.
class AdminChannel {
 public:
  virtual ~AdminChannel() = default;
  virtual Result<pb::AdminReply> ask(const pb::AdminRequest& request) = 0;
};

struct AdminArguments {
  std::vector<std::string> words;
  bool json = false;
  bool wait = true;        // Until a long operation has ended, telling of its progress.
  uint64_t operation = 0;  // Rejoins one that was begun earlier.
};

struct AdminConsole {
  std::function<void(const std::string&)> out;
  std::function<void(const std::string&)> error;
  std::function<void()> pause;  // Before the next question about progress.
};

int run_admin(AdminChannel& channel, const AdminArguments& arguments, const AdminConsole& console);

}  // namespace tidemark
