// The properties of timeline order on effects (docs/design.md, "What must always hold"), as the logs show
// them.
#pragma once

#include <memory>

#include "tests/simulation/checkers/effect_ledger.h"

namespace tidemark::sim {

// Validity: no position passes an effect that was not applied: what is recorded as committed was applied by
// every shard that it was sent to, and positions are raised to recorded ones only. Feeds the ledger.
class Pto1Validity : public Checker {
 public:
  Pto1Validity(Evidence& evidence, std::shared_ptr<EffectLedger> ledger)
      : Checker(evidence), ledger_(std::move(ledger)) {}
  const char* property() const override { return "PTO1 validity"; }
  void on_message(const Address& from, const Address&, const pb::Message& message) override {
    ledger_->on_message(from, message);
  }
  void on_record(const SeenRecord& record, const SeenStream& stream) override {
    ledger_->on_record(record, stream);
    if (!ledger_->skipped().empty()) violated(ledger_->skipped());
  }

 private:
  std::shared_ptr<EffectLedger> ledger_;
};

// Integrity: no effect is applied twice: every batch in a log begins exactly where the shards were.
class Pto2Integrity : public Checker {
 public:
  Pto2Integrity(Evidence& evidence, std::shared_ptr<EffectLedger> ledger)
      : Checker(evidence), ledger_(std::move(ledger)) {}
  const char* property() const override { return "PTO2 integrity"; }
  void on_record(const SeenRecord&, const SeenStream&) override {
    if (!ledger_->repeated().empty()) violated(ledger_->repeated());
  }

 private:
  std::shared_ptr<EffectLedger> ledger_;
};

// Order within a lane: no shard goes back.
class Pto3OrderInLane : public Checker {
 public:
  Pto3OrderInLane(Evidence& evidence, std::shared_ptr<EffectLedger> ledger)
      : Checker(evidence), ledger_(std::move(ledger)) {}
  const char* property() const override { return "PTO3 order within a lane"; }
  void on_record(const SeenRecord&, const SeenStream&) override {
    if (!ledger_->went_back().empty()) violated(ledger_->went_back());
  }

 private:
  std::shared_ptr<EffectLedger> ledger_;
};

// Order across owners: the chain of a lane goes on where it was when the lane has moved to another log, or to
// another view manager.
class Pto5OrderAcrossOwners : public Checker {
 public:
  Pto5OrderAcrossOwners(Evidence& evidence, std::shared_ptr<EffectLedger> ledger)
      : Checker(evidence), ledger_(std::move(ledger)) {}
  const char* property() const override { return "PTO5 order across owners"; }
  void on_record(const SeenRecord&, const SeenStream&) override {
    if (!ledger_->broke_chain().empty()) violated(ledger_->broke_chain());
  }

 private:
  std::shared_ptr<EffectLedger> ledger_;
};

}  // namespace tidemark::sim
