// `tidemark up`: a whole cluster in one process, on files.
#pragma once

#include "tests/cluster/admin.h"
#include "tests/cluster/sql_client.h"
#include "tests/cluster/tidemark_process.h"
#include "tests/servers/ports.h"

namespace tidemark::crash {

struct EmbeddedShape {
  uint32_t nodes = 1;
  uint32_t view_managers = 2;
  uint32_t regions = 4;
  std::vector<std::string> settings = {};  // Further flags.
};

// Not started. Its data stays through restarts. For one thread, but for gateways().
class EmbeddedProcess {
 public:
  // `data`: elsewhere than in a fresh directory.
  explicit EmbeddedProcess(EmbeddedShape shape, const std::filesystem::path& data = {});

  TidemarkProcess& process() { return *process_; }
  Gateways& gateways() { return gateways_; }
  const std::filesystem::path& data() const { return data_; }
  const std::filesystem::path& directory() const { return directory_.path(); }
  uint16_t sql_port() const { return sql_port_.number(); }
  uint16_t admin_port() const { return admin_port_.number(); }

  AdminSaid admin(const std::vector<std::string>& words) { return admin_.ask(admin_port_.address(), words); }
  // Throws ServerError if nobody answers in time.
  ClusterShown status();

 private:
  servers::TemporaryDirectory directory_;
  const std::filesystem::path data_;
  servers::HeldPort sql_port_;
  servers::HeldPort admin_port_;
  Gateways gateways_;
  Admin admin_;
  std::unique_ptr<TidemarkProcess> process_;
};

}  // namespace tidemark::crash
