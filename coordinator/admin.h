// What an operator may ask, as functions of the situation: the answer, and the facts as they should be next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rows_per_second.h"
#include "coordinator/situation.h"
#include "proto/messages.pb.h"

namespace tidemark {

struct AdminAnswer {
  pb::AdminReply reply;
  std::optional<ClusterFacts> after;  // To be written before the reply goes out.
};

// Answers a command: "status", "add-vm vm4", "stage split-region 3", ... Every command is idempotent: asked
// again it joins what is under way, or says that it is so already. What can not be is refused with a reason
// (exit code 1; 2 if the words make no sense) and changes nothing. A long one is answered with the number of
// its operation and `more`; asking with that number tells how far it is.
AdminAnswer answer_admin(const Situation& now, const pb::AdminRequest& request);

// DDL: the catalog with the definitions added, paced and dropped, at the next version. Views wait for
// BeginViews. Fails if it can not be, or is larger than one version may be (catalog_size.h).
Result<pb::Catalog> change_catalog(const pb::Catalog& catalog, const pb::CatalogRequest& request);

// ---- for the files of admin_*.cc

// The number that the whole word is. None: it is something else.
std::optional<uint64_t> number_in(const std::string& word);
// The operation that the words ask for. Fails on wrong words.
Result<pb::Operation> parse_operation(const std::vector<std::string>& words);
// Why it can not be done. None: it can.
std::optional<std::string> refusal_of(const Situation& now, const pb::Operation& operation);
// It is so already, and there is nothing to do.
std::optional<std::string> already_done(const Situation& now, const pb::Operation& operation);
// Adds it to what is running, and to the wishes. Gives its number; one that is running already is joined.
uint64_t begin_operation(const Situation& now, ClusterFacts& facts, pb::Operation operation);

// "backfill VIEW pause | resume | ROWS_PER_SECOND". None: as fast as it can. Fails on wrong words.
Result<std::optional<RowsPerSecond>> parse_pace(const std::vector<std::string>& words);
struct PaceAnswer {
  std::string text;
  std::optional<pb::Catalog> after;  // None: it is so already.
};
// Fails if there is no such view.
Result<PaceAnswer> set_pace(const pb::Catalog& catalog, const std::string& name,
                            std::optional<RowsPerSecond> pace);

std::string name_of(pb::Operation::Kind kind);         // "add-vm"
std::string title_of(const pb::Operation& operation);  // "move-region 3 n2"
std::string progress_of(const Situation& now, const pb::Operation& operation);

std::string status_text(const Situation& now);
std::string status_json(const Situation& now);
std::string history_text(const Situation& now);
std::string history_json(const Situation& now);
// What would move if the staged operations were committed now.
std::string plan_text(const Situation& now);
std::string plan_json(const Situation& now);

}  // namespace tidemark
