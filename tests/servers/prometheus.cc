#include "tests/servers/prometheus.h"

#include <simdjson.h>

#include <filesystem>
#include <fstream>

namespace tidemark::servers {
namespace {

constexpr const char* kProgram = "/usr/bin/prometheus";

std::string percent_encoded(const std::string& text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

}  // namespace

std::string get_http(uint16_t port, const std::string& path) {
  // An old version: the answer comes in one piece, and then the connection is closed.
  const std::string answer = ask_tcp(port, "GET " + path + " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  const size_t body = answer.find("\r\n\r\n");
  const size_t status = answer.find(' ');
  if (body == std::string::npos || answer.compare(status, 5, " 200 ") != 0) return "";
  return answer.substr(body + 4);
}

PrometheusServer::PrometheusServer(const std::vector<std::string>& targets) : directory_("prometheus") {
  if (!std::filesystem::exists(kProgram)) throw ServerError("Prometheus is not installed: deploy/setup");
  const std::filesystem::path config = directory_.path() / "prometheus.yml";
  std::ofstream file(config);
  file << "global:\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\n"
       << "scrape_configs:\n  - job_name: tidemark\n    static_configs:\n      - targets: [";
  for (size_t i = 0; i < targets.size(); ++i) file << (i > 0 ? ", " : "") << '"' << targets[i] << '"';
  file << "]\n";
  file.close();
  const Command command{.argv = {kProgram, "--config.file=" + config.string(),
                                 "--storage.tsdb.path=" + (directory_.path() / "data").string(),
                                 "--web.listen-address=" + port_.address()},
                        .log = directory_.path() / "prometheus.log",
                        .working_directory = directory_.path()};
  server_ = std::make_unique<Server>("prometheus", command,
                                     [this] { return !get_http(port_.number(), "/-/ready").empty(); });
  server_->start();
}

std::optional<double> PrometheusServer::query(const std::string& expression) const {
  const simdjson::padded_string answer(
      get_http(port_.number(), "/api/v1/query?query=" + percent_encoded(expression)));
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  if (parser.parse(answer).get(json) != simdjson::SUCCESS)
    throw ServerError("Prometheus did not answer " + expression);
  std::optional<double> sum;
  for (const simdjson::dom::element one : json["data"]["result"])
    sum = sum.value_or(0) + std::stod(std::string(std::string_view(one["value"].at(1))));
  return sum;
}

}  // namespace tidemark::servers
