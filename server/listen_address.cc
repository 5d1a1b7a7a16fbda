#include "server/listen_address.h"

namespace tidemark {

Status check_listen_address(std::string_view setting, std::string_view address, bool remote_allowed) {
  const std::string name(setting), text(address);
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == address.size())
    return Error{name + " = \"" + text + "\" is no HOST:PORT"};
  const std::string_view host = address.substr(0, colon);
  const bool loopback = host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
  if (loopback || remote_allowed) return {};
  return Error{
      name + " = \"" + text +
      "\" can be reached from other machines, and nobody is asked for a password yet; if that is meant, "
      "set network.allow_unauthenticated_remote_access = true"};
}

}  // namespace tidemark
