#include "tests/servers/supervisor_protocol.h"

#include <sys/socket.h>

#include <cerrno>

namespace tidemark::servers {

bool send_fields(int socket, const Fields& fields) {
  std::string message;
  for (const std::string& field : fields) {
    message += field;
    message += '\0';
  }
  if (message.size() > kMessageBytesMax) return false;
  ssize_t sent;
  do {
    sent = send(socket, message.data(), message.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(message.size());
}

std::optional<Fields> receive_fields(int socket) {
  std::string message(kMessageBytesMax, '\0');
  ssize_t received;
  do {
    received = recv(socket, message.data(), message.size(), 0);
  } while (received < 0 && errno == EINTR);
  if (received <= 0) return std::nullopt;
  Fields fields;
  size_t start = 0;
  for (size_t i = 0; i < static_cast<size_t>(received); ++i) {
    if (message[i] != '\0') continue;
    fields.push_back(message.substr(start, i - start));
    start = i + 1;
  }
  return fields;
}

}  // namespace tidemark::servers
