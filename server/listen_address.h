// Where a process may listen.
#pragma once

#include <string_view>

#include "base/result.h"

namespace tidemark {

// Nobody who connects is asked who they are: without `remote_allowed` only addresses of this machine are
// good. Error: no "host:port", or another address.
Status check_listen_address(std::string_view setting, std::string_view address, bool remote_allowed);

}  // namespace tidemark
