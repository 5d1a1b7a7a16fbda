#include "tests/simulation/checkers/activation_waits.h"

#include <sstream>

#include "coordinator/facts.h"
#include "proto/convert.h"
#include "proto/messages.pb.h"

namespace tidemark::sim {

ActivationWaits::ActivationWaits(Evidence& evidence)
    : Checker(evidence), cuts_(evidence.cluster.options().shards.value) {}

bool ActivationWaits::nobody_fails() const {
  const Scenario& s = evidence_.scenario;
  return s.crash + s.pause + s.hang + s.expire + s.cut_off + s.loss + s.partition + s.lose_request +
             s.lose_reply + s.standbys ==
         0;
}

// A fact is a byte of its kind and then itself: it is small enough for one entry.
void ActivationWaits::on_fact_written(SessionNumber, const std::string& path, const std::string& data) {
  if (path == paths::kRing) {
    pb::RingFact fact;
    if (!fact.ParseFromString(data.substr(1))) return;
    for (const pb::Ring& ring : fact.previous()) note(ring, Micros{0});  // The first one is written unseen.
    note(fact.ring(), evidence_.now());
  } else if (path == paths::kRegionMap) {
    pb::RegionMap map;
    if (!map.ParseFromString(data.substr(1))) return;
    for (const pb::RegionEntry& entry : map.regions())
      ranges_[RegionId{entry.region()}] = from_pb(entry.shards());
  }
}

void ActivationWaits::note(const pb::Ring& ring, Micros written) {
  rings_[ring.version()] = ring;
  for (const std::string& member : ring.members()) named_.emplace(member, written);
}

void ActivationWaits::on_record(const SeenRecord& record, const SeenStream& stream) {
  if (!record.body || !record.body->has_cut()) return;
  const ShardRange lanes = ranges_[stream.region];
  for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
    const Position after{stream.generation, Offset{record.at.value + 1}, 0};
    cuts_[lane.value][after] = record.body->cut().ring_version();
  }
}

uint64_t ActivationWaits::ring_at(ShardId lane, Position position) const {
  const auto after = cuts_[lane.value].upper_bound(position);
  return after == cuts_[lane.value].begin() ? 0 : std::prev(after)->second;
}

std::string ActivationWaits::owner(uint64_t version, ShardId lane) const {
  const auto ring = rings_.find(version);
  if (ring == rings_.end()) return "";
  for (const pb::Ring::Slice& slice : ring->second.slices()) {
    if (from_pb(slice.shards()).contains(lane)) return ring->second.members(static_cast<int>(slice.member()));
  }
  return "";
}

// A watch, the list of members, the member itself; and that once more, if it was being read just then.
bool ActivationWaits::all_have_heard_of(const std::string& member) const {
  const Scenario& s = evidence_.scenario;
  const double lag = s.lagging > 0 ? s.lag_micros : 0;
  const double late = s.watch_delay_micros + lag + 8 * s.coordination_delay_micros;
  return static_cast<double>(evidence_.now().value - named_.at(member).value) > late;
}

void ActivationWaits::on_message(const Address& from, const Address& to, const pb::Message& message) {
  if (!message.has_queue_open() || !nobody_fails()) return;
  for (const pb::LaneRun& run : message.queue_open().lanes()) {
    const ShardRange lanes = from_pb(run.lanes());
    for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
      const std::string responsible = owner(ring_at(lane, from_pb(run.position())), lane);
      if (responsible.empty() || responsible == to.value || !all_have_heard_of(responsible)) continue;
      std::ostringstream what;
      what << from << " gives lane " << lane << " at " << from_pb(run.position()) << " to " << to
           << ", while it is with " << responsible;
      return violated(what.str());
    }
  }
}

}  // namespace tidemark::sim
