// What a reader sees of a lane is a prefix of its history: the rows of a base table, or of a view that copies
// one, are as they were after some change of the lane.
#pragma once

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class ReaderSeesPrefix : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "readers see a prefix of each lane"; }
  void on_read(const ClientRead& read) override;
};

// A read that waited for a token sees the write behind it, or a later state.
class ReadYourWrites : public Checker {
 public:
  using Checker::Checker;
  const char* property() const override { return "read your writes"; }
  void on_read(const ClientRead& read) override;
};

}  // namespace tidemark::sim
