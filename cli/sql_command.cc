#include "cli/sql_command.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>

#include "base/result.h"
#include "cli/command.h"
#include "cli/sql_output.h"

namespace tidemark {

namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

Connection connect(const std::string& address) {
  size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  std::string port = colon == std::string::npos ? "7432" : address.substr(colon + 1);
  const char* names[] = {"host", "port", "user", "dbname", "application_name", "connect_timeout", nullptr};
  const char* values[] = {host.c_str(), port.c_str(), "tidemark", "tidemark", "tidemark sql", "10", nullptr};
  return {PQconnectdbParams(names, values, 0), &PQfinish};
}

// What a COPY FROM STDIN reads is this process's standard input.
void feed_copy(PGconn* connection, std::istream& in) {
  std::string line;
  while (std::getline(in, line)) {
    if (line == "\\.") break;
    line += '\n';
    if (PQputCopyData(connection, line.data(), static_cast<int>(line.size())) != 1) break;
  }
  PQputCopyEnd(connection, nullptr);
}

// All statements of the text, until one fails. False: one did, and the reason is on stderr.
bool run(PGconn* connection, const std::string& text, bool as_json) {
  bool ok = PQsendQuery(connection, text.c_str()) == 1;
  if (!ok) std::fputs(PQerrorMessage(connection), stderr);
  while (ok || PQstatus(connection) == CONNECTION_OK) {
    Answer answer(PQgetResult(connection), &PQclear);
    if (!answer) break;
    switch (PQresultStatus(answer.get())) {
      case PGRES_TUPLES_OK:
        std::fputs((as_json ? rows_as_json(answer.get()) : rows_as_table(answer.get())).c_str(), stdout);
        break;
      case PGRES_COMMAND_OK:
        if (!as_json) std::printf("%s\n", PQcmdStatus(answer.get()));
        break;
      case PGRES_EMPTY_QUERY: break;
      case PGRES_COPY_IN: feed_copy(connection, std::cin); break;
      default:
        std::fflush(stdout);
        std::fputs(PQresultErrorMessage(answer.get()), stderr);
        ok = false;
    }
  }
  std::fflush(stdout);
  return ok;
}

// Statements end with a semicolon at the end of a line.
bool run_prompt(PGconn* connection, bool as_json) {
  std::printf("Connected to Tidemark. End statements with a semicolon; leave with \\q.\n");
  std::string text, line;
  bool ok = true;
  for (;;) {
    std::printf(text.empty() ? "tidemark=> " : "tidemark-> ");
    std::fflush(stdout);
    if (!std::getline(std::cin, line) || line == "\\q") break;
    text += line + "\n";
    size_t last = text.find_last_not_of(" \t\n");
    if (last == std::string::npos) {
      text.clear();
    } else if (text[last] == ';') {
      ok = run(connection, text, as_json);
      text.clear();
    }
    if (PQstatus(connection) != CONNECTION_OK) PQreset(connection);
  }
  std::printf("\n");
  return ok;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{"can't read " + path};
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

}  // namespace

int sql_command(int argc, char** argv) {
  CLI::App app("Runs SQL. Without -c and -f, what comes on standard input; with a terminal, a prompt.",
               "tidemark sql");
  std::string address = "127.0.0.1:7432", text, file;
  bool as_json = false;
  app.add_option("--connect", address, "HOST:PORT of a node's SQL address")->capture_default_str();
  auto* command = app.add_option("-c,--command", text, "run this and end");
  app.add_option("-f,--file", file, "run the statements of this file and end")->excludes(command);
  app.add_flag("--json", as_json, "print one JSON object a row, a row a line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  if (!file.empty()) {
    Result<std::string> read = read_file(file);
    if (!read.ok()) {
      std::fprintf(stderr, "tidemark sql: %s\n", read.error().message.c_str());
      return kFailed;
    }
    text = std::move(read).value();
  }
  Connection connection = connect(address);
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    std::fprintf(stderr, "tidemark sql: %s", PQerrorMessage(connection.get()));
    return kFailed;
  }
  bool given = command->count() > 0 || !file.empty();
  if (!given && isatty(STDIN_FILENO)) return run_prompt(connection.get(), as_json) ? kDone : kFailed;
  if (!given) text.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  return run(connection.get(), text, as_json) ? kDone : kFailed;
}

}  // namespace tidemark
