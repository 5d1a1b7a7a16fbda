#include "cli/command.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/nearest.h"

namespace tidemark {
namespace {

int refuse_unknown(std::span<const CliCommand> commands, std::string_view given) {
  std::vector<std::string> known;
  for (const CliCommand& command : commands) known.emplace_back(command.name);
  std::fprintf(stderr, "tidemark: there is no command '%s'%s; see tidemark --help\n",
               std::string(given).c_str(), did_you_mean(given, known).c_str());
  return kWrongUsage;
}

}  // namespace

std::string help_text(std::span<const CliCommand> commands) {
  size_t width = 0;
  for (const CliCommand& command : commands) width = std::max(width, std::string_view(command.name).size());
  std::string text =
      "Tidemark keeps materialized views of key-value tables up to date from their write-ahead logs.\n"
      "\n"
      "usage: tidemark <command> [argument]...\n"
      "       tidemark <command> --help\n"
      "       tidemark --version\n";
  if (!commands.empty()) text += "\ncommands:\n";
  for (const CliCommand& command : commands) {
    const std::string name = command.name;
    text += "  " + name + std::string(width + 2 - name.size(), ' ') + command.summary + "\n";
  }
  text += "\nexit codes: 0 done, 1 refused or failed (the reason is on stderr), 2 wrong usage\n";
  return text;
}

int dispatch(std::span<const CliCommand> commands, int argc, char** argv) {
  if (argc < 2) {
    std::fputs(help_text(commands).c_str(), stderr);
    return kWrongUsage;
  }
  const std::string_view given = argv[1];
  if (given == "--help" || given == "-h" || given == "help") {
    std::fputs(help_text(commands).c_str(), stdout);
    return kDone;
  }
  if (given == "--version") {
    std::puts("tidemark " TIDEMARK_VERSION);
    return kDone;
  }
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const auto& c) { return given == c.name; });
  if (command == commands.end()) return refuse_unknown(commands, given);
  return command->run(argc - 1, argv + 1);
}

}  // namespace tidemark
