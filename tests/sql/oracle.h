// A real PostgreSQL that says what the answer should be.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tidemark::sql::testing {

// An answer as text: rows of fields, or a SQLSTATE.
struct Answer {
  std::string sqlstate;  // Empty if there are rows.
  std::string message;
  std::vector<std::string> types;              // Names of the columns' types.
  std::vector<std::vector<std::string>> rows;  // NULL is "\N".

  bool ok() const { return sqlstate.empty(); }
  std::string shown() const;
};

class Oracle {
 public:
  Oracle();
  ~Oracle();

  Answer ask(const std::string& sql);
  // Fails the test if the statement does.
  void run(const std::string& sql);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --rounds=N and --seed=S of the command line, or what the test says: for long runs.
struct OracleRun {
  int rounds;
  uint64_t seed;
};
OracleRun oracle_run(int rounds, uint64_t seed);
// Takes them from the command line; called by main.
void take_oracle_arguments(int argc, char** argv);

std::string quote(const std::string& text);

}  // namespace tidemark::sql::testing
