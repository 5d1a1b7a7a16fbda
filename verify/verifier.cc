#include "verify/verifier.h"

#include <algorithm>
#include <thread>

#include "base/assert.h"
#include "verify/functions.h"
#include "verify/try.h"

namespace tidemark::verify {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRoundsWithoutHold = 3;
// Lets what was written just before a round reach the views.
constexpr std::chrono::milliseconds kPauseBetweenRounds{250};
constexpr std::chrono::milliseconds kLagInterval{50};

class Verification {
 public:
  Verification(Server& server, Database& database, const VerifyOptions& options,
               const std::vector<ServerRelation>& relations)
      : server_(server),
        options_(options),
        relations_(relations),
        recomputation_(database, relations),
        differences_(database) {}

  Result<VerifyReport> run() {
    TM_TRY(differences_.open());
    TM_TRY(choose_views());
    int round = 0;
    while (!pending().empty() && round < kRoundsWithoutHold) {
      pause(round, Clock::now() + options_.patience);
      TM_TRY(compare(++round));
    }
    if (!pending().empty()) TM_TRY(settle(round));
    return std::move(report_);
  }

 private:
  Status choose_views() {
    std::vector<std::string> names = options_.views;
    for (const ServerRelation& relation : relations_) {
      if (options_.views.empty() && relation.definition) names.push_back(relation.name);
    }
    for (const std::string& name : names) {
      const ServerRelation* relation = find(name);
      if (relation == nullptr || !relation->definition) return Error{"there is no view \"" + name + "\""};
      ViewReport view;
      view.view = name;
      view.reason = recomputation_.obstacle(name);
      view.verdict = view.reason.empty() ? Verdict::Moving : Verdict::Unchecked;
      for (const ServerColumn& column : relation->columns) view.columns.push_back(column.name);
      report_.views.push_back(std::move(view));
    }
    return {};
  }

  const ServerRelation* find(const std::string& name) const {
    const auto found = std::find_if(relations_.begin(), relations_.end(),
                                    [&](const ServerRelation& relation) { return relation.name == name; });
    return found == relations_.end() ? nullptr : &*found;
  }

  // Views are moving until a round says otherwise.
  std::set<std::string> pending() const {
    std::set<std::string> out;
    for (const ViewReport& view : report_.views) {
      if (view.verdict == Verdict::Moving) out.insert(view.view);
    }
    return out;
  }

  // Before the next round: until no pending view is behind, but not past `end`.
  void pause(int round, Clock::time_point end) {
    if (round > 0) std::this_thread::sleep_for(kPauseBetweenRounds);
    for (;;) {
      lags_ = server_.lags();
      const std::set<std::string> views = pending();
      const bool behind =
          std::any_of(views.begin(), views.end(), [&](const auto& view) { return lag(view) > 0; });
      if (!behind || Clock::now() + kLagInterval >= end) return;
      std::this_thread::sleep_for(kLagInterval);
    }
  }

  // Of the view and those below it, before the last round; 0 if the server does not say.
  int64_t lag(const std::string& view) const {
    int64_t out = 0;
    for (const std::string& name : recomputation_.with_views_below(view)) {
      const auto found = lags_.find(name);
      if (found != lags_.end()) out = std::max(out, found->second);
    }
    return out;
  }

  // One round: copies the base rows of all pending views, recomputes, and reads the views.
  Status compare(int round) {
    recomputation_.forget();
    for (const std::string& table : recomputation_.base_tables(pending())) {
      TM_TRY(recomputation_.copy(server_, table));
    }
    for (ViewReport& view : report_.views) {
      if (view.verdict == Verdict::Moving) TM_TRY(compare_view(view, round));
    }
    return {};
  }

  Status compare_view(ViewReport& view, int round) {
    view.rounds = round;
    if (Status status = recomputation_.compute(view.view); !status.ok()) {
      return leave(view, "recomputing it failed: " + status.error().message);
    }
    TM_ASSIGN(bool ties, recomputation_.has_ties(view.view));
    if (ties) return leave(view, "which of equal rows a LIMIT keeps is not known");
    TM_TRY(differences_.begin());
    TM_TRY(
        recomputation_.rows(view.view, [&](const std::string& row) { return differences_.expected(row); }));
    view.rows = 0;
    const Status read = server_.read(*find(view.view), [&](const ServerRow& row) {
      ++view.rows;
      return differences_.found(recomputation_.encode_found(view.view, row));
    });
    TM_ASSIGN(view.moving, differences_.finish(view.view, round));
    if (!read.ok()) return leave(view, "reading it failed: " + read.error().message);
    if (view.moving == 0) view.verdict = Verdict::Agrees;
    return {};
  }

  Status leave(ViewReport& view, const std::string& reason) {
    view.verdict = Verdict::Unchecked;
    view.reason = reason;
    return {};
  }

  // After the last round: client writes wait while the rest is compared, so that nothing is left in motion. A
  // view that still changes then has not caught up: it is compared until it agrees or stands still.
  Status settle(int round) {
    const Clock::time_point start = Clock::now();
    TM_ASSIGN(bool held, server_.hold_writes(options_.hold));
    if (!held) {
      return conclude(1, round, "the server can't hold writes");
    }
    const Clock::time_point end = start + options_.hold;
    const int first = round + 1;
    bool in_time = true, still = false;
    while (in_time && !still && !pending().empty()) {
      pause(round, end);
      TM_TRY(compare(++round));
      in_time = Clock::now() < end;
      TM_ASSIGN(still, stands_still(round, first));
    }
    const Status released = server_.release_writes();
    report_.held = std::chrono::duration_cast<std::chrono::milliseconds>(std::min(Clock::now(), end) - start);
    if (!released.ok()) return released;
    if (still) return conclude(round - 1, round, "");
    return conclude(1, round,
                    "holding writes for " + std::to_string(options_.hold.count()) + " ms was not enough");
  }

  // All that differs now differed in the same way in the round before.
  Result<bool> stands_still(int round, int first) {
    if (round <= first) return false;
    for (const std::string& view : pending()) {
      if (lag(view) > 0) return false;
      TM_ASSIGN(int64_t now, differences_.count_in_all(view, round, round));
      TM_ASSIGN(int64_t before, differences_.count_in_all(view, round - 1, round - 1));
      TM_ASSIGN(int64_t both, differences_.count_in_all(view, round - 1, round));
      if (now != both || before != both) return false;
    }
    return true;
  }

  // What differs in all rounds from `first` to `last` differs; a view with other rows is still moving.
  Status conclude(int first, int last, const std::string& why_moving) {
    for (ViewReport& view : report_.views) {
      if (view.verdict != Verdict::Moving) continue;
      TM_ASSIGN(view.differing, differences_.count_in_all(view.view, first, last));
      TM_ASSIGN(view.differences, differences_.in_all(view.view, first, last, options_.shown_rows_max));
      view.moving -= view.differing;
      TM_ASSERT(view.moving >= 0);
      view.reason = why_moving;
      if (const int64_t behind = lag(view.view); behind > 0) {
        view.reason = "it is " + std::to_string(behind) + " changes behind; " + why_moving;
      } else if (view.moving == 0) {
        view.verdict = Verdict::Differs;
        view.reason.clear();
      }
    }
    return {};
  }

  Server& server_;
  const VerifyOptions& options_;
  const std::vector<ServerRelation>& relations_;
  Recomputation recomputation_;
  Differences differences_;
  VerifyReport report_;
  std::map<std::string, int64_t> lags_;
};

}  // namespace

bool VerifyReport::agrees() const {
  return std::all_of(views.begin(), views.end(), [](const ViewReport& view) {
    return view.verdict == Verdict::Agrees || view.verdict == Verdict::Unchecked;
  });
}

Result<VerifyReport> verify(Server& server, const VerifyOptions& options) {
  TM_ASSIGN(std::vector<ServerRelation> relations, server.relations());
  TM_ASSIGN(std::unique_ptr<Database> database, Database::create(options.directory, options.cache_bytes));
  register_functions(*database);
  return Verification(server, *database, options, relations).run();
}

}  // namespace tidemark::verify
