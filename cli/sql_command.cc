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
#include "sql/parse/lexer.h"

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

// Does the text end with a semicolon that is not part of a string or comment?
bool is_complete(const std::string& text) {
  sql::Lexer lexer(text);
  sql::TokenKind last = sql::TokenKind::End;
  for (sql::Token token = lexer.next(); token.kind != sql::TokenKind::End; token = lexer.next())
    last = token.kind;
  return last == sql::TokenKind::Semicolon;
}

bool is_blank(const std::string& text) {
  return sql::Lexer(text).next().kind == sql::TokenKind::End;
}

// Standard input, statement by statement as they come; statements end with a semicolon at the end of a line.
// At a terminal with a prompt; otherwise the first that fails ends it.
bool run_input(PGconn* connection, bool as_json, bool terminal) {
  if (terminal) std::printf("Connected to Tidemark. End statements with a semicolon; leave with \\q.\n");
  std::string text, line;
  bool ok = true;
  while (ok || terminal) {
    if (terminal) std::printf(text.empty() ? "tidemark=> " : "tidemark-> ");
    std::fflush(stdout);
    bool more = static_cast<bool>(std::getline(std::cin, line));
    if (!more || (terminal && line == "\\q")) break;
    text += line + "\n";
    if (is_blank(text)) {
      text.clear();
    } else if (is_complete(text)) {
      ok = run(connection, text, as_json);
      text.clear();
    }
    if (terminal && PQstatus(connection) != CONNECTION_OK) PQreset(connection);
  }
  if (terminal) std::printf("\n");
  if (ok && !terminal && !is_blank(text)) ok = run(connection, text, as_json);  // Without its semicolon.
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
  bool ok = given ? run(connection.get(), text, as_json)
                  : run_input(connection.get(), as_json, isatty(STDIN_FILENO) != 0);
  return ok ? kDone : kFailed;
}

}  // namespace tidemark
