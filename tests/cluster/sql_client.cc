#include "tests/cluster/sql_client.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <thread>

#include "tests/servers/supervisor.h"

namespace tidemark::crash {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kReconnectPause{20};
constexpr const char* kOutcomeUnknown = "08007";

int millis_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1000));
}

SqlAnswer answer_from(const PGresult* result) {
  SqlAnswer answer;
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    answer.sqlstate = state == nullptr ? "" : state;
    answer.message = PQresultErrorMessage(result);
    // Without a SQLSTATE it is libpq that speaks: the connection broke.
    answer.fate =
        answer.sqlstate.empty() || answer.sqlstate == kOutcomeUnknown ? Fate::Unknown : Fate::NotDone;
    return answer;
  }
  answer.fate = Fate::Done;
  if (const char* affected = PQcmdTuples(const_cast<PGresult*>(result)); *affected != '\0')
    answer.affected = std::stoull(affected);
  for (int row = 0; row < PQntuples(result); ++row) {
    auto& fields = answer.rows.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column)
      fields.push_back(PQgetisnull(result, row, column) != 0 ? "\\N" : PQgetvalue(result, row, column));
  }
  return answer;
}

}  // namespace

void Gateways::add(const std::string& address) {
  const std::lock_guard lock(mutex_);
  addresses_.push_back(address);
}

void Gateways::remove(const std::string& address) {
  const std::lock_guard lock(mutex_);
  std::erase(addresses_, address);
}

std::vector<std::string> Gateways::all() const {
  const std::lock_guard lock(mutex_);
  return addresses_;
}

SqlClient::SqlClient(const Gateways& gateways, uint64_t seed, std::chrono::milliseconds patience)
    : gateways_(gateways), random_(seed), patience_(patience), connection_(nullptr, &PQfinish) {}
SqlClient::~SqlClient() = default;

bool SqlClient::connect() {
  const std::vector<std::string> addresses = gateways_.all();
  if (addresses.empty()) return false;
  const std::string& address = addresses[random_.below(addresses.size())];
  const size_t colon = address.rfind(':');
  const std::string where = "host=" + address.substr(0, colon) + " port=" + address.substr(colon + 1) +
                            " user=tidemark dbname=tidemark connect_timeout=2 sslmode=disable";
  connection_.reset(PQconnectdb(where.c_str()));
  if (PQstatus(connection_.get()) == CONNECTION_OK) return true;
  why_not_ = PQerrorMessage(connection_.get());
  connection_.reset();
  return false;
}

SqlAnswer SqlClient::lost(const std::string& why) {
  connection_.reset();
  SqlAnswer answer;
  answer.fate = Fate::Unknown;
  answer.message = why;
  return answer;
}

SqlAnswer SqlClient::ask(const std::string& sql) {
  const auto end = Clock::now() + patience_;
  while (!connection_ && !connect()) {
    if (Clock::now() > end) {
      SqlAnswer nobody;
      nobody.message = "no gateway could be reached: " + why_not_;
      return nobody;
    }
    std::this_thread::sleep_for(kReconnectPause);
  }
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) return lost(PQerrorMessage(connection_.get()));
  return collect(end);
}

SqlAnswer SqlClient::collect(Clock::time_point end) {
  SqlAnswer answer;
  for (;;) {
    while (PQisBusy(connection_.get()) != 0) {
      if (Clock::now() > end) return lost("no answer within " + std::to_string(patience_.count()) + " ms");
      pollfd readable{PQsocket(connection_.get()), POLLIN, 0};
      poll(&readable, 1, millis_until(end));
      if (PQconsumeInput(connection_.get()) == 0) return lost(PQerrorMessage(connection_.get()));
    }
    std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQgetResult(connection_.get()), &PQclear);
    if (!result) break;
    answer = answer_from(result.get());
  }
  if (PQstatus(connection_.get()) != CONNECTION_OK) connection_.reset();
  return answer;
}

SqlAnswer SqlClient::ask_until_done(const std::string& sql, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  for (;;) {
    SqlAnswer answer = ask(sql);
    if (answer.ok()) return answer;
    if (Clock::now() > end)
      throw servers::ServerError("gave up on \"" + sql + "\": " + answer.sqlstate + " " + answer.message);
    std::this_thread::sleep_for(kReconnectPause);
  }
}

}  // namespace tidemark::crash
