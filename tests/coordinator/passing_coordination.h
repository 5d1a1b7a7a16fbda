// A Coordination that passes everything on to another: for tests that want to see, or change, some of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/coordination.h"

namespace tidemark {

class PassingCoordination : public Coordination {
 public:
  // REQUIRES: it outlives this.
  explicit PassingCoordination(Coordination& inner) : inner_(inner) {}

  void get(const std::string& path, Watch watch, Done<Entry> done) override {
    inner_.get(path, std::move(watch), std::move(done));
  }
  void children(const std::string& path, Watch watch, Done<std::vector<std::string>> done) override {
    inner_.children(path, std::move(watch), std::move(done));
  }
  void exists(const std::string& path, Watch watch, Done<bool> done) override {
    inner_.exists(path, std::move(watch), std::move(done));
  }
  void create(const std::string& path, const std::string& data, EntryMode mode,
              Done<std::string> done) override {
    inner_.create(path, data, mode, std::move(done));
  }
  void multi(std::vector<CoordinationOp> ops, Done<std::vector<std::string>> done) override {
    inner_.multi(std::move(ops), std::move(done));
  }
  void on_session(std::function<void(SessionState)> listener) override {
    inner_.on_session(std::move(listener));
  }
  void new_session() override { inner_.new_session(); }

 private:
  Coordination& inner_;
};

}  // namespace tidemark
