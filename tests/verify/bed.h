// A real PostgreSQL whose materialized views `verify` checks: they are as right as their last REFRESH.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/verifier.h"

namespace tidemark::verify::testing {

class Bed {
 public:
  Bed();
  ~Bed();

  // HOST:PORT, for --connect.
  std::string address() const;
  // Fails the test if a statement does.
  void run(const std::string& sql);
  // Rows of text; null is "\N".
  std::vector<std::vector<std::string>> ask(const std::string& sql);
  // Another connection, for another thread.
  std::unique_ptr<Bed> another() const;

  // Of these views, or of all.
  VerifyReport verify(VerifyOptions options = {});

 private:
  struct State;
  explicit Bed(std::shared_ptr<State> shared);
  void connect();

  std::shared_ptr<State> state_;
  void* connection_ = nullptr;
};

}  // namespace tidemark::verify::testing
