// Runs the operator's command that starts a view manager elsewhere, or here.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"

namespace tidemark {

// Runs `command` by the shell with the identity as its last argument, and waits for its end in the
// background: how it ended is logged. An empty command gives an empty function.
std::function<void(const std::string& identity)> command_launcher(const std::string& command,
                                                                  const Logger& log);

}  // namespace tidemark
