// A Prometheus server that scrapes what it is told to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/servers/ports.h"
#include "tests/servers/server.h"

namespace tidemark::servers {

// Serves when the constructor returns; throws ServerError otherwise.
class PrometheusServer {
 public:
  // `targets`: "host:port" each, whose /metrics is scraped every half second.
  explicit PrometheusServer(const std::vector<std::string>& targets);

  // The sum of what the expression gives now; none: it gives nothing. Throws ServerError on a wrong
  // expression.
  std::optional<double> query(const std::string& expression) const;

  Server& server() { return *server_; }

 private:
  TemporaryDirectory directory_;
  HeldPort port_;
  std::unique_ptr<Server> server_;
};

// The body of what http://127.0.0.1:port/path answers; empty if nothing, or not with 200.
std::string get_http(uint16_t port, const std::string& path);

}  // namespace tidemark::servers
