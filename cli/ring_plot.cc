#include <map>
#include <memory>

#include "cli/ring_file.h"
#include "cli/ring_subcommands.h"
#include "cli/svg.h"

namespace tidemark {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string output;
};

// Members of all rings by name, each once, so that a member keeps its colour from ring to ring.
class Legend {
 public:
  size_t group(const std::string& name) {
    const auto [at, is_new] = groups_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return at->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, size_t> groups_;
  std::vector<std::string> names_;
};

std::vector<Arc> arcs_of(const RingFile& ring, Legend& legend) {
  for (const auto& member : ring.members) legend.group(member.name);
  std::vector<Arc> arcs;
  const double shards = ring.assignment.shards();
  for (const hashring::Slice& slice : hashring::to_slices(ring.assignment).slices()) {
    arcs.push_back({static_cast<double>(slice.begin) / shards,
                    static_cast<double>(slice.begin + slice.length) / shards,
                    legend.group(name_of(ring.members, slice.owner))});
  }
  return arcs;
}

Result<Report> plot(const Options& options) {
  Legend legend;
  std::vector<std::vector<Arc>> rings;
  std::string title;
  for (const std::string& path : options.paths) {
    const Result<RingFile> ring = read_ring(path);
    if (!ring) return ring.error();
    rings.push_back(arcs_of(*ring, legend));
    title += (title.empty() ? "" : ", then ") + std::to_string(ring->members.size()) + " members in " +
             std::to_string(rings.back().size()) + " slices";
  }
  TM_TRY(write_text(options.output, svg_of_rings(title, rings, legend.names())));
  Report report;
  report.fields = {{"plot", options.output}, {"rings", Cell::number(uint64_t{rings.size()})}};
  return report;
}

}  // namespace

RingSubcommand add_ring_plot(CLI::App& ring) {
  CLI::App* app = ring.add_subcommand("plot", "Draws rings as SVG, the first outermost");
  auto options = std::make_shared<Options>();
  app->add_option("rings", options->paths, "files of rings")->required();
  app->add_option("--output", options->output, "file to write")->required();
  return {app, [options] { return plot(*options); }};
}

}  // namespace tidemark
