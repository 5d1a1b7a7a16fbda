#include "cli/verify_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "cli/command.h"
#include "cli/verify_output.h"

namespace tidemark {

namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "tidemark verify: %s\n", error.message.c_str());
  return kFailed;
}

// What was asked for by name and could not be checked has failed; among all views it is only told.
bool has_passed(const verify::VerifyReport& report, bool by_name) {
  if (!report.agrees()) return false;
  for (const verify::ViewReport& view : report.views) {
    if (by_name && view.verdict == verify::Verdict::Unchecked) return false;
  }
  return true;
}

}  // namespace

int verify_command(int argc, char** argv) {
  CLI::App app("Compares views with their queries, computed anew from the base rows while writes go on.",
               "tidemark verify");
  verify::VerifyOptions options;
  std::string address = "127.0.0.1:7432";
  double hold_seconds = 10;
  bool as_json = false;
  if (const char* directory = std::getenv("TMPDIR")) options.directory = directory;
  app.add_option("views", options.views, "names of views; all if none is given");
  app.add_option("--connect", address, "HOST:PORT of a node's SQL address")->capture_default_str();
  app.add_option("--directory", options.directory, "where base rows are copied to")->capture_default_str();
  app.add_option("--rows", options.shown_rows_max, "print at most so many rows that differ, per view")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--hold", hold_seconds, "hold client writes for at most so many seconds")
      ->check(CLI::Range(0.1, 20.0))
      ->capture_default_str();
  app.add_flag("--json", as_json, "print one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  options.hold = std::chrono::milliseconds(static_cast<int64_t>(hold_seconds * 1000));
  const auto server = verify::Server::connect(address);
  if (!server.ok()) return fail(server.error());
  const auto report = verify::verify(**server, options);
  if (!report.ok()) return fail(report.error());
  std::fputs((as_json ? verification_as_json(*report) : verification_as_text(*report)).c_str(), stdout);
  std::fflush(stdout);
  return has_passed(*report, !options.views.empty()) ? kDone : kFailed;
}

}  // namespace tidemark
