// What a test says to its supervisor: one message per packet of a SOCK_SEQPACKET socket, a list of fields.
//
//   spawn <log file> <working directory> <uid> <gid> <argv>...   -> ok <pid>
//   signal <pid> <signal number> process|tree                    -> ok
//   status <pid>                                                 -> running | exited <code> | signaled
//   <number> watch <directory> <name>    remove it when the test is gone  -> ok forget <directory> -> ok
//   keep-logs <directory>       where logs go if the test crashes -> ok
//   done                        an orderly end: no logs wanted    -> ok
//
// Any of them may be answered with: error <reason>
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tidemark::servers {

using Fields = std::vector<std::string>;

inline constexpr size_t kMessageBytesMax = 64 * 1024;

// Nothing when the message is too long, or the other side is gone.
bool send_fields(int socket, const Fields& fields);
std::optional<Fields> receive_fields(int socket);

}  // namespace tidemark::servers
