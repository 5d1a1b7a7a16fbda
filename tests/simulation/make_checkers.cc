#include "tests/simulation/checker.h"
#include "tests/simulation/checkers/activation_waits.h"
#include "tests/simulation/checkers/filled_views.h"
#include "tests/simulation/checkers/memory_bounds.h"
#include "tests/simulation/checkers/no_early_trim.h"
#include "tests/simulation/checkers/no_write_lost.h"
#include "tests/simulation/checkers/one_coordinator.h"
#include "tests/simulation/checkers/one_owner.h"
#include "tests/simulation/checkers/pto.h"
#include "tests/simulation/checkers/pto4_last_owner.h"
#include "tests/simulation/checkers/reader_sees_prefix.h"
#include "tests/simulation/checkers/replicas_agree.h"
#include "tests/simulation/checkers/rest.h"

namespace tidemark::sim {

std::vector<std::unique_ptr<Checker>> make_checkers(Evidence& evidence) {
  auto ledger = std::make_shared<EffectLedger>(evidence);
  std::vector<std::unique_ptr<Checker>> out;
  out.push_back(
      std::make_unique<Pto1Validity>(evidence, ledger));  // It feeds the ledger: before those that read it.
  out.push_back(std::make_unique<Pto2Integrity>(evidence, ledger));
  out.push_back(std::make_unique<Pto3OrderInLane>(evidence, ledger));
  out.push_back(std::make_unique<Pto4LastOwner>(evidence));
  out.push_back(std::make_unique<Pto5OrderAcrossOwners>(evidence, ledger));
  out.push_back(std::make_unique<OneOwner>(evidence));
  out.push_back(std::make_unique<OneCoordinator>(evidence));
  out.push_back(std::make_unique<ActivationWaits>(evidence));
  out.push_back(std::make_unique<P2Termination>(evidence));
  out.push_back(std::make_unique<P3ChangesEnd>(evidence));
  out.push_back(std::make_unique<ViewsConverge>(evidence));
  out.push_back(std::make_unique<PartsUnite>(evidence));
  out.push_back(std::make_unique<FilledViews>(evidence));
  out.push_back(std::make_unique<NoWriteLost>(evidence));
  out.push_back(std::make_unique<NoEarlyTrim>(evidence));
  out.push_back(std::make_unique<ReadYourWrites>(evidence));
  out.push_back(std::make_unique<ReaderSeesPrefix>(evidence));
  out.push_back(std::make_unique<ReplicasAgree>(evidence));
  out.push_back(std::make_unique<MemoryBounds>(evidence));
  out.push_back(std::make_unique<Silence>(evidence));
  return out;
}

}  // namespace tidemark::sim
