// A region under random requests, effects, backfills and crashes, against naive twins: maps and lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "proto/change.h"
#include "proto/convert.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

using Key = std::vector<int64_t>;

Key plain(const Cells& cells) {
  Key out;
  for (const Cell& cell : cells) out.push_back(cell.value_or(INT64_MIN));
  return out;
}

// ---- clients: the row of a key is the list of all requests ever done on it, so loss, repetition and order
// show

struct Client {
  pb::SessionName session;
  uint64_t next = 1;
  struct Pending {
    std::string operations;
    std::string id;
    uint64_t hash;
    std::string key;
    std::optional<uint64_t> asked;
  };
  std::map<uint64_t, Pending> pending;
};

class RequestsWorld {
 public:
  explicit RequestsWorld(uint64_t seed) : random_(seed) {
    catalog_.create(table_.definition());
    rig_.catalog(catalog_);
    rig_.open(1);
    rig_.settle();
    clients_.resize(2);
    for (Client& client : clients_) client.session = rig_.session();
  }

  void run() {
    for (int step = 0; step < 300; ++step) {
      switch (random_.below(8)) {
        case 0: begin_request(); break;
        case 1:
        case 2: send(); break;
        case 3: rig_.tick(static_cast<int64_t>(random_.below(3'000))); break;
        case 4:
        case 5: rig_.land(1 + random_.below(2)); break;
        case 6:
          if (random_.chance(.1)) crash();
          break;
        default:
          if (random_.chance(.1)) snapshots_.emplace_back(rig_.state().to_snapshot(), rig_.rows());
      }
      hear();
    }
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < 8; ++i) send();
      rig_.settle();
      hear();
    }
    check();
  }

 private:
  void begin_request() {
    Client& client = clients_[random_.below(clients_.size())];
    if (client.pending.size() >= 3) return;
    uint64_t number = client.next++;
    Client::Pending request;
    request.id = "c" + std::to_string(&client - clients_.data()) + "." + std::to_string(number) + ";";
    sql::EncodedRow place = table_.encode({static_cast<int64_t>(random_.below(4)), 0});
    request.hash = place.hash;
    request.key = place.key;
    auto row = rig_.rows().get(table_.id(), place.hash, place.key);
    std::string next = std::string(row.value_or("")) + request.id;
    std::optional<std::string> expected;
    if (row) expected.emplace(*row);
    append_operation(request.operations,
                     {OperationKind::CompareAndPut, table_.id(), place.hash, place.key, next,
                      expected ? std::optional<std::string_view>(*expected) : std::nullopt});
    client.pending[number] = std::move(request);
  }

  void send() {
    Client& client = clients_[random_.below(clients_.size())];
    if (client.pending.empty()) return;
    auto it = std::next(client.pending.begin(), static_cast<ptrdiff_t>(random_.below(client.pending.size())));
    it->second.asked = rig_.write(
        rig_.request(client.session, it->first, it->second.operations, client.pending.begin()->first));
  }

  void hear() {
    for (Client& client : clients_) {
      std::erase_if(client.pending, [&](const auto& it) {
        const Client::Pending& request = it.second;
        if (!request.asked || !rig_.answered(*request.asked)) return false;
        const pb::Message& reply = rig_.reply(*request.asked);
        if (!reply.has_written()) return false;  // Unknown: the same again.
        (reply.written().failed().empty() ? done_ : failed_).insert(request.id);
        return true;
      });
    }
  }

  void crash() {
    rig_.end(random_.below(3));
    rig_.open(++version_);
  }

  void check() {
    std::string all;
    for (const auto& [place, row] : rig_.rows().all()) all += row;
    for (const std::string& id : done_) ASSERT_EQ(count(all, id), 1) << "acknowledged: " << id;
    for (const std::string& id : failed_) ASSERT_EQ(count(all, id), 0) << "failed: " << id;
    for (const auto& [snapshot, rows] : snapshots_) {
      Rig rebuilt(*RegionState::from_snapshot(snapshot), rows, rig_.log());
      rebuilt.read_log();
      ASSERT_EQ(rebuilt.hash(), rig_.hash());
    }
  }
  static int count(const std::string& all, const std::string& id) {
    int out = 0;
    for (size_t at = all.find(id); at != std::string::npos; at = all.find(id, at + 1)) ++out;
    return out;
  }

  Random random_;
  TestTable table_{define({.id = 1})};
  TestCatalog catalog_;
  Rig rig_;
  std::vector<Client> clients_;
  std::set<std::string> done_, failed_;
  std::vector<std::pair<pb::RegionSnapshot, MemoryRowStore>> snapshots_;
  uint64_t version_ = 1;
};

TEST(RequestsProperty, AcknowledgedWritesAreThereOnceFailedOnesNeverThroughCrashes) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RequestsWorld(seed).run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// ---- effects of every row rule

class EffectsWorld {
 public:
  explicit EffectsWorld(uint64_t seed)
      : random_(seed), rig_({RegionId{1}, kShards.all(), Generation{1}, kShards}, options()) {
    pb::TableDefinition sums = define({.id = 3, .kind = pb::AUXILIARY, .rule = pb::SUM, .values = 4});
    uint32_t column = 2;
    for (auto kind : {pb::DerivedColumn::MIN, pb::DerivedColumn::MAX, pb::DerivedColumn::COUNT_DISTINCT}) {
      pb::DerivedColumn& derived = *sums.add_derived();
      derived.set_column(column++);
      derived.set_kind(kind);
      derived.set_multiset(4);
    }
    pb::TableDefinition top = define({.id = 5, .kind = pb::AUXILIARY, .rule = pb::TOP, .clustering = 1});
    top.set_top_of(4);
    top.set_top_limit(2);
    pb::TableDefinition left = left_.definition(), right = right_.definition();
    left.set_partner(8);
    right.set_partner(7);
    sums_ = std::make_unique<TestTable>(sums);
    top_ = std::make_unique<TestTable>(top);
    catalog_.create_together({sums, values_.definition(), top, left, right});
    rig_.catalog(catalog_);
    rig_.open(1);
    rig_.settle();
  }

  void run() {
    for (int step = 0; step < 200; ++step) {
      switch (random_.below(6)) {
        case 0:
        case 1: send(); break;
        case 2: rig_.tick(static_cast<int64_t>(random_.below(3'000))); break;
        case 3: rig_.land(1 + random_.below(2)); break;
        case 4:
          if (random_.chance(.1)) crash();
          break;
        default:
          if (random_.chance(.1)) snapshots_.emplace_back(rig_.state().to_snapshot(), rig_.rows());
          if (random_.chance(.1)) check();
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
    check();
    for (const auto& [snapshot, rows] : snapshots_) {
      Rig rebuilt(*RegionState::from_snapshot(snapshot), rows, rig_.log());
      rebuilt.read_log();
      ASSERT_EQ(rebuilt.hash(), rig_.hash());
    }
  }

 private:
  static RegionOptions options() {
    RegionOptions out;
    out.join_page_matches_max = 2;
    return out;
  }

  struct Step {
    EffectKind kind;
    const TestTable* table;
    Cells cells;
  };

  // The n-th batch of the lane, always the same. Counts never go below zero: each lane's prefix is a state.
  const std::vector<Step>& batch(size_t n) {
    while (batches_.size() <= n) {
      std::vector<Step> steps;
      for (uint64_t i = 1 + random_.below(4); i > 0; --i) {
        int64_t group = static_cast<int64_t>(random_.below(2)), key = static_cast<int64_t>(random_.below(5));
        if (random_.chance(.5)) {
          const TestTable* side = random_.chance(.5) ? &left_ : &right_;
          bool gone = random_.chance(.35);
          steps.push_back({gone ? EffectKind::Delete : EffectKind::Put, side, {group, key, ++value_}});
        } else {
          int64_t& count = sent_counts_[{group, key}];
          int64_t add = count > 0 && random_.chance(.5) ? -1 : 1;
          count += add;
          Step value{EffectKind::Add, &values_, {group, key, add}};
          Step sum{EffectKind::Add, sums_.get(), {group, add, Cell(), Cell(), Cell()}};
          bool first = random_.chance(.5);
          steps.push_back(first ? value : sum);
          steps.push_back(first ? sum : value);
        }
      }
      batches_.push_back(std::move(steps));
    }
    return batches_[n];
  }

  void send() {
    size_t at = next_;
    std::string effects;
    for (const Step& step : batch(at)) add_effect(effects, step.kind, *step.table, step.cells);
    uint64_t request =
        rig_.effects(make_batch(kShards.all(), {{shards(0, 1), pos(0, at), pos(0, at + 1)}}, effects));
    if (rig_.answered(request) && rig_.verdict(request) == pb::EffectAnswer::BUSY) return send_slowly(at);
    ++next_;
  }

  // One effect at a time, each once the join of the one before is paged.
  void send_slowly(size_t at) {
    rig_.settle();
    uint32_t step = 0;
    const std::vector<Step> steps = batch(at);
    for (const Step& one : steps) {
      std::string effects;
      add_effect(effects, one.kind, *one.table, one.cells);
      Position to = step + 1 == steps.size() ? pos(0, at + 1) : pos(0, at, step + 1);
      uint64_t request =
          rig_.effects(make_batch(kShards.all(), {{shards(0, 1), pos(0, at, step), to}}, effects));
      rig_.settle();
      ASSERT_EQ(rig_.verdict(request), pb::EffectAnswer::APPLIED);
      ++step;
    }
    next_ = at + 1;
  }

  void crash() {
    rig_.tick(5'000);
    rig_.end(random_.below(4));
    rig_.open(++version_);
    next_ = rig_.state().parts().all()[0].applied.at(ShardId{0}).offset.value;
  }

  void check() {
    rig_.settle();
    size_t applied = rig_.state().parts().all()[0].applied.at(ShardId{0}).offset.value;
    ASSERT_EQ(applied, next_);
    std::map<int64_t, std::map<int64_t, int64_t>> counts;  // Group -> value -> count.
    std::map<const TestTable*, std::map<Key, int64_t>> sides;
    for (size_t n = 0; n < applied; ++n) {
      for (const Step& step : batches_[n]) {
        Key key{*step.cells[0], step.table == sums_.get() ? 0 : *step.cells[1]};
        if (step.kind == EffectKind::Put) sides[step.table][key] = *step.cells[2];
        if (step.kind == EffectKind::Delete) sides[step.table].erase(key);
        if (step.table == &values_) counts[key[0]][key[1]] += *step.cells[2];
      }
    }
    std::vector<Cells> want_sums, want_top;
    for (auto& [group, values] : counts) {
      std::erase_if(values, [](const auto& it) { return it.second == 0; });
      if (values.empty()) continue;
      int64_t total = 0;
      size_t rank = 0;
      for (const auto& [value, count] : values) {
        total += count;
        if (rank++ < 2) want_top.push_back({group, value, count});
      }
      want_sums.push_back(
          {group, total, values.begin()->first, values.rbegin()->first, static_cast<int64_t>(values.size())});
    }
    ASSERT_EQ(rig_.all(*sums_), want_sums);
    ASSERT_EQ(rig_.all(*top_), want_top);
    ASSERT_EQ(left_join_of_log(), left_join(sides[&left_], sides[&right_]));
  }

  using JoinRows = std::map<Key, Key>;  // (join key, left key, right key or none) -> (left, right or none)
  static constexpr int64_t kNone = INT64_MIN;

  static JoinRows left_join(const std::map<Key, int64_t>& lefts, const std::map<Key, int64_t>& rights) {
    JoinRows out;
    for (const auto& [left, value] : lefts) {
      bool any = false;
      for (const auto& [right, other] : rights) {
        if (left[0] != right[0]) continue;
        out[{left[0], left[1], right[1]}] = {value, other};
        any = true;
      }
      if (!any) out[{left[0], left[1], kNone}] = {value, kNone};
    }
    return out;
  }

  // What a view manager would make of the changes, in the order of the log.
  JoinRows left_join_of_log() {
    JoinRows out;
    for (const pb::RecordBody& body : rig_.bodies()) {
      bool page = body.has_join_page();
      ChangeReader reader(page ? body.join_page().changes() : body.commit().changes());
      for (Change change; reader.next(change);) {
        if (change.table != left_.id() && change.table != right_.id()) continue;
        bool is_left = change.table == left_.id();
        Key mine = plain(
            (is_left ? left_ : right_).decode(change.key, change.after ? *change.after : *change.before));
        bool any = false;
        MatchReader matches(change.matches);
        for (Match match; matches.next(match);) {
          Key other = plain((is_left ? right_ : left_).decode(match.key, match.row));
          const Key& left = is_left ? mine : other;
          const Key& right = is_left ? other : mine;
          Key key{left[0], left[1], right[1]};
          if (change.after) {
            out[key] = {left[2], right[2]};
          } else {
            out.erase(key);
          }
          if (!is_left && change.first_of_side) out.erase({left[0], left[1], kNone});
          if (!is_left && change.last_of_side) out[{left[0], left[1], kNone}] = {left[2], kNone};
          any = true;
        }
        if (!is_left || any) continue;
        if (change.after) {
          out[{mine[0], mine[1], kNone}] = {mine[2], kNone};
        } else {
          out.erase({mine[0], mine[1], kNone});
        }
      }
    }
    return out;
  }

  Random random_;
  TestTable values_{define({.id = 4, .kind = pb::AUXILIARY, .rule = pb::MULTISET, .clustering = 1})};
  TestTable left_{define({.id = 7, .kind = pb::AUXILIARY, .rule = pb::JOIN_SIDE, .clustering = 1})};
  TestTable right_{define({.id = 8, .kind = pb::AUXILIARY, .rule = pb::JOIN_SIDE, .clustering = 1})};
  std::unique_ptr<TestTable> sums_, top_;
  TestCatalog catalog_;
  Rig rig_;
  std::vector<std::vector<Step>> batches_;
  std::map<std::pair<int64_t, int64_t>, int64_t> sent_counts_;
  int64_t value_ = 0;
  size_t next_ = 0;
  uint64_t version_ = 1;
  std::vector<std::pair<pb::RegionSnapshot, MemoryRowStore>> snapshots_;
};

TEST(RowRulesProperty, DerivedColumnsTopsAndJoinsAreThoseOfTheirTwinsThroughCrashes) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EffectsWorld(seed).run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tidemark
