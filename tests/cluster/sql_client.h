// A client that survives its server: asks any of several gateways, and says honestly what it knows of a
// write.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"

struct pg_conn;

namespace tidemark::crash {

// Where SQL is served, as "host:port". Thread-safe.
class Gateways {
 public:
  void add(const std::string& address);
  void remove(const std::string& address);
  std::vector<std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> addresses_;
};

// What a client knows of its statement.
enum class Fate : uint8_t {
  Done,     // It was acknowledged.
  NotDone,  // It was refused, or never sent: it must have had no effect, now and for ever.
  Unknown,  // The connection broke, or nobody answered: once, or not at all, perhaps later.
};

struct SqlAnswer {
  Fate fate = Fate::NotDone;
  std::string sqlstate;  // Empty: no server said anything.
  std::string message;
  uint64_t affected = 0;
  std::vector<std::vector<std::string>> rows;  // NULL is "\N".

  bool ok() const { return fate == Fate::Done; }
};

// One connection at a time, made anew after a failure, to any gateway. For one thread.
class SqlClient {
 public:
  // An answer that does not come within `patience` is Unknown, and its connection is dropped.
  SqlClient(const Gateways& gateways, uint64_t seed,
            std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~SqlClient();
  SqlClient(const SqlClient&) = delete;
  SqlClient& operator=(const SqlClient&) = delete;

  SqlAnswer ask(const std::string& sql);
  // Asks again until it is done. Only for statements that may be done twice. Throws ServerError at the
  // deadline, with the last answer.
  SqlAnswer ask_until_done(const std::string& sql,
                           std::chrono::milliseconds deadline = std::chrono::seconds(120));

 private:
  bool connect();
  SqlAnswer lost(const std::string& why);
  SqlAnswer collect(std::chrono::steady_clock::time_point end);

  const Gateways& gateways_;
  Random random_;
  const std::chrono::milliseconds patience_;
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
  std::string why_not_;  // The last connection could not be made.
};

}  // namespace tidemark::crash
