// How a connection finds out that its peer's host is gone. For the .cc files of drivers only: includes Asio.
#pragma once

#include <asio/ip/tcp.hpp>

namespace tidemark {

// A host that lost its power or its network says no goodbye: without these, a connection on which nothing is
// to be sent stays open for ever, with its memory, and one that waits for an acknowledgement for a quarter of
// an hour. Neither fails: where the system does not know them, the connection is as good as before.

// Asks a silent peer whether it is there, and closes when it has not answered for two minutes.
void close_if_silent(asio::ip::tcp::socket& socket);

// Closes when what was sent is not acknowledged, or the peer takes nothing, for a minute. Not for clients
// that may stop reading for as long as they like.
void close_if_unacknowledged(asio::ip::tcp::socket& socket);

}  // namespace tidemark
