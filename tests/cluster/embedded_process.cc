#include "tests/cluster/embedded_process.h"

namespace tidemark::crash {

EmbeddedProcess::EmbeddedProcess(EmbeddedShape shape, const std::filesystem::path& data)
    : directory_("embedded"),
      data_(data.empty() ? directory_.path() / "data" : data),
      admin_(directory_.path()) {
  gateways_.add(sql_port_.address());
  std::vector<std::string> arguments{"up",
                                     "--data",
                                     data_.string(),
                                     "--listen",
                                     sql_port_.address(),
                                     "--admin-listen",
                                     admin_port_.address(),
                                     "--nodes",
                                     std::to_string(shape.nodes),
                                     "--view-managers",
                                     std::to_string(shape.view_managers),
                                     "--regions",
                                     std::to_string(shape.regions)};
  arguments.insert(arguments.end(), shape.settings.begin(), shape.settings.end());
  process_ = std::make_unique<TidemarkProcess>("tidemark-up", std::move(arguments),
                                               directory_.path() / "tidemark-up.log");
}

ClusterShown EmbeddedProcess::status() {
  std::optional<ClusterShown> shown;
  servers::wait_until("the coordinator answers", [&] {
    shown = admin_.status(admin_port_.address());
    return shown.has_value();
  });
  return *shown;
}

}  // namespace tidemark::crash
