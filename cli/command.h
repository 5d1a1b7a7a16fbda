// The table of subcommands of the one binary, and how one is chosen.
#pragma once

#include <span>
#include <string>

namespace tidemark {

// What every command returns.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,      // Refused or failed; the reason is on stderr.
  kWrongUsage = 2,  // What was asked for makes no sense; how to ask is on stderr.
};

struct CliCommand {
  const char* name;
  const char* summary;
  // argv[0] is the name of the command. Returns an ExitCode.
  int (*run)(int argc, char** argv);
};

// Runs the command that argv[1] names, or answers --help, --version or a mistake.
int dispatch(std::span<const CliCommand> commands, int argc, char** argv);

// What `tidemark --help` prints.
std::string help_text(std::span<const CliCommand> commands);

}  // namespace tidemark
