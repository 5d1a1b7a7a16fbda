// Clients of SQL in front of a simulated cluster: sessions as the gateway would use them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/session/sql_service.h"
#include "tests/simulation/sim_cluster.h"

namespace tidemark {

struct SqlOutcome {
  std::string tag;  // Empty: it failed.
  std::optional<sql::SqlError> error;
  std::vector<std::string> rows;  // Of "a|b|c"; NULL is empty. In the order they came.
  std::vector<std::string> notices;
  std::vector<std::string> settings;  // "name=value", as they were told.

  std::string state() const { return error ? error->state : "00000"; }
  std::vector<std::string> sorted() const;
  std::string text() const;  // For messages of failed tests.
};

class SqlClient;

// A process with a SqlService. Its clients must be gone before it.
class SqlProcess {
 public:
  SqlProcess(SimCluster& cluster, const std::string& name);

  sql::SqlService& service() { return *service_; }
  SimCluster& cluster() { return cluster_; }
  // REQUIRES: the service is ready.
  std::unique_ptr<SqlClient> connect();

 private:
  SimCluster& cluster_;
  ProcessScheduler loop_;
  MemoryCoordination coordination_;
  Random random_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<sql::SqlService> service_;
};

class SqlClient : private sql::ResultSink {
 public:
  SqlClient(SimCluster& cluster, std::unique_ptr<sql::Session> session);

  // Runs all statements of a text, until one fails; the outcome is that of the last one.
  SqlOutcome run(const std::string& text);
  // The same without waiting for it; at most one at a time.
  void begin(const std::string& text);
  bool is_over() const { return !running_; }
  SqlOutcome finish();  // Runs the world until it is over.

  // Parameters as text.
  SqlOutcome run_prepared(const std::shared_ptr<const sql::PreparedStatement>& statement,
                          const std::vector<std::optional<std::string>>& parameters);
  sql::Session& session() { return *session_; }

  // Data of the next COPY, given in pieces of so many bytes.
  void give_copy_data(std::string data, size_t piece_bytes = 100);

  // After so many rows of a statement: it is to wait, until take_more(). 0: never.
  void take_rows(size_t rows) { rows_wanted_ = rows; }
  bool is_paused() const { return paused_; }
  void take_more(size_t rows);

 private:
  sql::Wanted row(std::span<const sql::Value> values) override;
  void paused() override;
  bool forget(std::string_view) override { return true; }
  void setting(std::string_view name, std::string_view value) override {
    outcome_.settings.push_back(std::string(name) + "=" + std::string(value));
  }
  void copy_in(size_t columns) override;
  void notice(const sql::SqlError& notice) override { outcome_.notices.push_back(notice.message); }

  void next();
  void send_copy_data();

  SimCluster& cluster_;
  std::unique_ptr<sql::Session> session_;
  std::string text_;
  std::vector<std::string_view> left_;
  SqlOutcome outcome_;
  bool running_ = false;
  std::string copy_data_;
  size_t copy_piece_bytes_ = 100;
  size_t rows_wanted_ = 0;
  bool paused_ = false;
};

}  // namespace tidemark
