#include "cli/ring_command.h"

#include <cstdio>

#include "cli/command.h"
#include "cli/ring_subcommands.h"

namespace tidemark {
namespace {

int run(const RingSubcommand& subcommand, bool as_program) {
  const Result<Report> report = subcommand.run();
  if (!report) {
    std::fprintf(stderr, "tidemark ring %s: %s\n", subcommand.app->get_name().c_str(),
                 report.error().message.c_str());
    return kFailed;
  }
  std::fputs((as_program ? as_json(*report) : as_text(*report)).c_str(), stdout);
  return kDone;
}

}  // namespace

int ring_command(int argc, char** argv) {
  CLI::App app("Who owns which shard: computes placements and shows what a change would move.",
               "tidemark ring");
  app.require_subcommand(1);
  bool as_program = false;
  const RingSubcommand subcommands[] = {add_ring_compute(app), add_ring_diff(app),    add_ring_explain(app),
                                        add_ring_plot(app),    add_ring_compare(app), add_ring_analyze(app)};
  for (const RingSubcommand& subcommand : subcommands) {
    subcommand.app->add_flag("--json", as_program, "print JSON");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  for (const RingSubcommand& subcommand : subcommands) {
    if (subcommand.app->parsed()) return run(subcommand, as_program);
  }
  return kWrongUsage;
}

}  // namespace tidemark
