// The pieces of a region against naive twins.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "node/region/ahead_rows.h"
#include "node/region/notable_offsets.h"
#include "node/region/overlay.h"
#include "node/region/parts.h"
#include "node/region/session_table.h"
#include "node/store/memory_row_store.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

constexpr uint64_t kSeeds = 300;

TEST(OverlayProperty, IsTheStoreWithWhatIsInFlightOverIt) {
  using Place = std::tuple<TableId, uint64_t, std::string>;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    MemoryRowStore store(kShards);
    Overlay overlay;
    AheadRows ahead(overlay, store);
    std::map<Place, std::string> twin;
    struct Record {
      Offset at;
      std::vector<std::pair<Place, std::optional<std::string>>> writes;
    };
    std::deque<Record> in_flight;
    uint64_t next = 1;
    auto draw_place = [&] {
      std::string key(random.below(3), 'a');
      for (char& c : key) c = random.chance(.2) ? '\xff' : static_cast<char>('a' + random.below(3));
      uint64_t hash = random.chance(.1) ? UINT64_MAX : random.below(3);
      return Place{TableId{1 + static_cast<uint32_t>(random.below(2))}, hash, key};
    };
    for (int step = 0; step < 150; ++step) {
      if (random.chance(.5)) {  // A transaction.
        overlay.begin();
        std::map<Place, std::string> before = twin;
        Record record{Offset{next}, {}};
        for (uint64_t i = random.below(5); i > 0; --i) {
          Place place = draw_place();
          std::optional<std::string> row;
          if (random.chance(.6)) row = std::to_string(random.below(100));
          overlay.write(std::get<0>(place), std::get<1>(place), std::get<2>(place), row, Ordered::Yes);
          record.writes.push_back({place, row});
          if (row) {
            twin[place] = *row;
          } else {
            twin.erase(place);
          }
        }
        if (random.chance(.2)) {
          overlay.rollback();
          twin = before;
        } else {
          overlay.commit(Offset{next});
          in_flight.push_back(std::move(record));
          if (random.chance(.5)) ++next;  // Else the next joins the same record.
        }
      } else if (!in_flight.empty()) {  // A record becomes durable.
        Offset at = in_flight.front().at;
        if (at.value == next) ++next;
        for (; !in_flight.empty() && in_flight.front().at == at; in_flight.pop_front()) {
          for (const auto& [place, row] : in_flight.front().writes) {
            const auto& [table, hash, key] = place;
            if (row) {
              store.put(table, hash, key, *row);
            } else {
              store.erase(table, hash, key);
            }
          }
        }
        overlay.release(at);
        ASSERT_TRUE(!in_flight.empty() || overlay.size() == 0);
      }
      auto [table, hash, key] = draw_place();
      auto it = twin.find({table, hash, key});
      auto row = ahead.get(table, hash, key);
      ASSERT_EQ(row.has_value(), it != twin.end());
      ASSERT_TRUE(!row || *row == it->second);
      // All rows from a place on, in both directions and of both kinds of cursor.
      for (Direction direction : {Direction::Forward, Direction::Backward}) {
        std::vector<std::string> want, have;
        for (const auto& [place, value] : twin) {
          if (std::get<0>(place) != table) continue;
          bool in = direction == Direction::Forward ? place >= Place{table, hash, key}
                                                    : place <= Place{table, hash, key};
          if (in) want.push_back(value);
        }
        if (direction == Direction::Backward) std::reverse(want.begin(), want.end());
        for (AheadCursor at = ahead.seek(table, hash, key, direction); at.valid(); at.next())
          have.emplace_back(at.row());
        ASSERT_EQ(have, want);
        AheadCursor group = ahead.seek_group(table, hash, key, direction);
        std::vector<std::string> in_prefix, seen;
        for (const auto& [place, value] : twin) {
          if (std::get<0>(place) == table && std::get<1>(place) == hash &&
              std::get<2>(place).starts_with(key)) {
            in_prefix.push_back(value);
          }
        }
        if (direction == Direction::Backward) std::reverse(in_prefix.begin(), in_prefix.end());
        for (; in_group(group, hash, key); group.next()) seen.emplace_back(group.row());
        ASSERT_EQ(seen, in_prefix);
      }
      std::vector<std::string> want, have;
      for (const auto& [place, value] : twin) {
        if (std::get<0>(place) == table && place > Place{table, hash, key}) want.push_back(value);
      }
      for (AheadCursor at = ahead.scan(table, hash, key); at.valid(); at.next()) have.emplace_back(at.row());
      ASSERT_EQ(have, want);
    }
  }
}

TEST(PartsProperty, AdmitAndApplyAsTheRuleOfBatchesSays) {
  using Positions = std::map<uint32_t, Position>;  // The twin: one per lane.
  struct TwinPart {
    ShardRange shards;
    Positions applied;
  };
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    auto at = [](const Positions& positions, uint32_t lane) {
      auto it = positions.find(lane);
      return it == positions.end() ? Position{} : it->second;
    };
    auto draw = [&] { return pos(0, random.below(3)); };
    Parts parts(shards(0, 4));
    std::vector<TwinPart> twin{{shards(0, 4), {}}};
    if (random.chance(.7)) {  // As after a merge.
      parts.add({shards(4, 8), {}});
      twin.push_back({shards(4, 8), {}});
    }
    for (int step = 0; step < 40; ++step) {
      std::vector<LaneMove> moves;
      uint32_t lane = static_cast<uint32_t>(random.below(3));
      while (lane < 8 && moves.size() < 3) {
        uint32_t end = lane + 1 + static_cast<uint32_t>(random.below(3));
        Position prev = draw();
        moves.push_back({shards(lane, end), prev, pos(0, prev.offset.value + 1 + random.below(2)),
                         random.chance(.5) ? Position{} : draw()});
        lane = end + static_cast<uint32_t>(random.below(2));
      }
      if (moves.empty()) continue;
      ShardRange range = random.chance(.8) ? twin[random.below(twin.size())].shards : shards(0, 8);

      Admission want = Admission::Refuse;
      for (const TwinPart& part : twin) {
        if (part.shards != range) continue;
        bool at_prev = true, past_to = true;
        for (const LaneMove& move : moves) {
          for (uint32_t x = move.lanes.begin.value; x < move.lanes.end.value; ++x) {
            Position here = std::max(at(part.applied, x), move.floor);
            at_prev = at_prev && here == move.prev;
            past_to = past_to && here >= move.to;
          }
        }
        want = at_prev ? Admission::Accept : past_to ? Admission::Drop : Admission::Refuse;
      }
      ASSERT_EQ(parts.admit(range, moves), want);
      if (want != Admission::Accept) continue;

      std::vector<LaneRun> floors, to;
      for (const LaneMove& move : moves) {
        floors.push_back({move.lanes, move.floor});
        to.push_back({move.lanes, move.to});
      }
      parts.apply(range, floors, to);
      for (TwinPart& part : twin) {
        for (const LaneMove& move : moves) {
          for (uint32_t x = move.lanes.begin.value; x < move.lanes.end.value; ++x) {
            part.applied[x] = std::max(at(part.applied, x), move.floor);
            if (part.shards == range) part.applied[x] = move.to;
          }
        }
      }
      for (size_t i = 1; i < twin.size();) {
        bool equal = true;
        for (uint32_t x = 0; x < 16; ++x)
          equal = equal && at(twin[i - 1].applied, x) == at(twin[i].applied, x);
        if (equal) {
          twin[i - 1].shards.end = twin[i].shards.end;
          twin.erase(twin.begin() + static_cast<ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
      ASSERT_EQ(parts.size(), twin.size());
      for (size_t i = 0; i < twin.size(); ++i) {
        ASSERT_EQ(parts.all()[i].shards, twin[i].shards);
        for (uint32_t x = 0; x < 16; ++x)
          ASSERT_EQ(parts.all()[i].applied.at(ShardId{x}), at(twin[i].applied, x));
      }
    }
  }
}

// The twin is the model's: (session, shard) -> (lowest unanswered, numbers done).
TEST(SessionsProperty, AreKnownPerShardThroughSplitsAndMerges) {
  struct Known {
    uint64_t lowest = 0;
    std::set<uint64_t> done;
  };
  using Twin = std::map<std::pair<uint64_t, uint32_t>, Known>;
  struct Piece {
    ShardRange shards;
    SessionTable table;
    Twin twin;
  };
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Piece> worlds{{shards(0, 8), {}, {}}};
    uint64_t sessions = 0;
    for (int step = 0; step < 120; ++step) {
      Piece& world = worlds[random.below(worlds.size())];
      uint64_t action = random.below(10);
      if (action == 0) {
        ++sessions;
        world.table.open({RegionId{1}, Offset{sessions}}, world.shards);
        for (uint32_t s = world.shards.begin.value; s < world.shards.end.value; ++s)
          world.twin[{sessions, s}] = {};
      } else if (action == 1 && sessions > 0) {
        uint64_t session = 1 + random.below(sessions);
        world.table.expire({RegionId{1}, Offset{session}});
        std::erase_if(world.twin, [&](const auto& it) { return it.first.first == session; });
      } else if (action == 2 && world.shards.size() > 1) {
        uint32_t middle =
            world.shards.begin.value + 1 + static_cast<uint32_t>(random.below(world.shards.size() - 1));
        Piece low{{world.shards.begin, ShardId{middle}}, {}, {}},
            high{{ShardId{middle}, world.shards.end}, {}, {}};
        for (Piece* child : {&low, &high}) {
          child->table = SessionTable::from_pb([&] {
            SessionTable::Messages messages;
            world.table.restricted(child->shards).to_pb(messages);
            return messages;
          }());
          for (const auto& [key, known] : world.twin) {
            if (child->shards.contains(ShardId{key.second})) child->twin[key] = known;
          }
        }
        world = low;
        worlds.push_back(high);
        std::sort(worlds.begin(), worlds.end(), [](auto& a, auto& b) { return a.shards < b.shards; });
      } else if (action == 3 && worlds.size() > 1) {
        size_t i = random.below(worlds.size() - 1);
        worlds[i].shards.end = worlds[i + 1].shards.end;
        worlds[i].table.merge(worlds[i + 1].table);
        worlds[i].twin.insert(worlds[i + 1].twin.begin(), worlds[i + 1].twin.end());
        worlds.erase(worlds.begin() + static_cast<ptrdiff_t>(i) + 1);
      } else if (sessions > 0) {
        uint64_t session = 1 + random.below(sessions), number = 1 + random.below(6);
        uint64_t lowest = 1 + random.below(number);
        std::string outcome;
        for (uint64_t n = 1 + random.below(3); n > 0; --n) {
          ShardId shard{world.shards.begin.value + static_cast<uint32_t>(random.below(world.shards.size()))};
          std::vector<OperationOutcome> found;
          const Session* known = world.table.find({RegionId{1}, Offset{session}});
          auto twin = world.twin.find({session, shard.value});
          SessionKnowledge knowledge =
              known == nullptr ? SessionKnowledge::Unknown : known->look_up(number, shard, found);
          SessionKnowledge want = twin == world.twin.end()             ? SessionKnowledge::Unknown
                                  : number < twin->second.lowest       ? SessionKnowledge::TooLow
                                  : twin->second.done.contains(number) ? SessionKnowledge::Done
                                                                       : SessionKnowledge::Fresh;
          ASSERT_EQ(static_cast<int>(knowledge), static_cast<int>(want));
          if (want == SessionKnowledge::Fresh) append_outcome(outcome, {shard, 1});
        }
        if (outcome.empty()) continue;
        ASSERT_TRUE(world.table.mark({RegionId{1}, Offset{session}}, number, lowest, outcome));
        for (auto& [key, known] : world.twin) {
          if (key.first != session) continue;
          known.lowest = std::max(known.lowest, lowest);
          ByteReader reader(outcome);
          while (!reader.done()) {
            if (reader.varint() == key.second && number >= known.lowest) known.done.insert(number);
            reader.varint();
          }
          std::erase_if(known.done, [&](uint64_t n) { return n < known.lowest; });
        }
      }
    }
  }
}

TEST(NotableOffsetsProperty, KnowWhatLiesBetween) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    NotableOffsets notable;
    std::set<uint64_t> twin;
    uint64_t floor = 0, at = 0;
    for (int step = 0; step < 300; ++step) {
      at += random.below(4);
      notable.add(Offset{at});
      twin.insert(at);
      if (random.chance(.05)) {
        floor = std::max(floor, random.below(at + 1));
        notable.forget_before(Offset{floor});
      }
      uint64_t from = floor + random.below(at - floor + 1), to = from + random.below(10);
      auto first = twin.lower_bound(from);
      bool any = first != twin.end() && *first < to;
      if (notable.runs().size() < NotableOffsets::kRunsMax) {
        ASSERT_EQ(notable.any_in(Offset{from}, Offset{to}), any);
      } else {
        ASSERT_TRUE(!any || notable.any_in(Offset{from}, Offset{to}));
      }
      ASSERT_LE(notable.runs().size(), NotableOffsets::kRunsMax);
    }
  }
}

}  // namespace
}  // namespace tidemark
